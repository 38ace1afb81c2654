// Counts what a thread allocates with `new`. A program built with allocations.cpp has the standard
// operators replaced by ones that count.
#pragma once

#include <cstddef>

namespace rubato {

std::size_t allocations_of_this_thread() noexcept;  // since it began

}  // namespace rubato
