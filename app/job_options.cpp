// See job_options.hpp.
#include "app/job_options.hpp"

#include <sched.h>

#include <sstream>

#include "app/failure.hpp"

namespace rubato::app {

Option launcher_option(const std::string& group) {
  return {.name = "mpirun",
          .default_value = "mpirun",
          .value_name = "\"COMMAND ...\"",
          .group = group,
          .description = "the launcher and its options, blanks between; -q -n RANKS follow"};
}

std::vector<std::string> launcher_words(const Options& options) {
  std::istringstream in(options.text("mpirun"));
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  if (words.empty()) throw UsageError("--mpirun: a command is missing");
  return words;
}

std::uint64_t cores_here() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const bool is_known = ::sched_getaffinity(0, sizeof(allowed), &allowed) == 0;
  return is_known ? static_cast<std::uint64_t>(CPU_COUNT(&allowed)) : 1;
}

}  // namespace rubato::app
