// A trace drawn with characters: batch size upwards, rows to the right.
#pragma once

#include <string>

#include "data/batch_trace.hpp"

namespace rubato::app {

// Ten lines high and at most sixty columns wide; a column stands for as many rows as needed and
// shows the largest. The scale is logarithmic where the largest batch is at least eight times the
// smallest.
std::string draw(const data::BatchTrace& trace);

}  // namespace rubato::app
