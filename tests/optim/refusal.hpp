// What an optimizer says of options that it does not take.
#pragma once

#include <gmock/gmock.h>

#include <stdexcept>

#include "optim/optimizer.hpp"

namespace rubato::optim {

// `more` goes to its constructor after the options.
template <class OptimizerType, class... More>
void expect_refusal(const OptimizerOptions& options, const char* message, More... more) {
  EXPECT_THAT([&] { OptimizerType optimizer(options, more...); },
              testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr(message)));
}

}  // namespace rubato::optim
