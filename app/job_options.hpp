// What the commands that start jobs under mpirun ask in the same way.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/options.hpp"

namespace rubato::app {

// --mpirun "COMMAND ..."
Option launcher_option(const std::string& group);
// Its words. Throws UsageError if there is none.
std::vector<std::string> launcher_words(const Options& options);

std::uint64_t cores_here();  // that this process may run on

}  // namespace rubato::app
