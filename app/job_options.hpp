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

// The launcher is an mpirun that knows of no other host than this one.
bool stays_here(const std::vector<std::string>& launcher);

std::uint64_t cores_here();  // that this process may run on

// Throws UsageError, naming `option`, for numbers that no launcher should be asked for, because it
// would work on them for minutes: more than 65536 ranks, or where the launcher is an mpirun that
// knows of no other host, more than 64 for each of `cores`.
void require_room_for(std::uint64_t ranks, const std::string& option,
                      const std::vector<std::string>& launcher, std::uint64_t cores = cores_here());

}  // namespace rubato::app
