// What reading a trace says of text that is none.
#pragma once

#include <string>

#include "data/batch_trace.hpp"
#include "data/errors.hpp"
#include "thrown_message.hpp"

namespace rubato::data {

inline std::string refusal_of_trace(const std::string& text) {
  return thrown_message<ContentError>([&] { BatchTrace::from_csv_text(text, "t.csv"); });
}

}  // namespace rubato::data
