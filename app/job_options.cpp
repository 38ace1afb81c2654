// See job_options.hpp.
#include "app/job_options.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "app/failure.hpp"

namespace rubato::app {
namespace {

constexpr std::uint64_t most_ranks = 65536;
constexpr std::uint64_t most_ranks_a_core = 64;

bool is_mpirun(const std::string& program) {
  const auto name = std::filesystem::path(program).filename().string();
  const auto begins_with = [&](const char* text) { return name.rfind(text, 0) == 0; };
  return begins_with("mpirun") || begins_with("mpiexec") || begins_with("orterun");
}

// By its words (--host, --hostfile, --machinefile, --rankfile, ...) or from a batch system.
bool knows_hosts(const std::vector<std::string>& launcher) {
  const auto names_hosts = [](const std::string& word) {
    return word == "-H" || word == "-rf" || word.find("host") != std::string::npos ||
           word.find("file") != std::string::npos;
  };
  const auto is_set = [](const char* variable) { return std::getenv(variable) != nullptr; };
  constexpr std::array variables{"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "PE_HOSTFILE",
                                 "OMPI_MCA_orte_default_hostfile"};
  return std::any_of(launcher.begin() + 1, launcher.end(), names_hosts) ||
         std::any_of(variables.begin(), variables.end(), is_set);
}

}  // namespace

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

bool stays_here(const std::vector<std::string>& launcher) {
  return is_mpirun(launcher[0]) && !knows_hosts(launcher);
}

// The set has room for 1024 cores: of a larger host all count.
std::uint64_t cores_here() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const bool is_known = ::sched_getaffinity(0, sizeof(allowed), &allowed) == 0;
  return static_cast<std::uint64_t>(is_known ? CPU_COUNT(&allowed)
                                             : ::sysconf(_SC_NPROCESSORS_ONLN));
}

void require_room_for(std::uint64_t ranks, const std::string& option,
                      const std::vector<std::string>& launcher, std::uint64_t cores) {
  const auto number = option + " " + std::to_string(ranks);
  if (ranks > most_ranks) {
    throw UsageError(number + ": expected at most " + std::to_string(most_ranks));
  }
  if (ranks <= most_ranks_a_core * cores || !stays_here(launcher)) return;
  throw UsageError(number + ": expected at most " + std::to_string(most_ranks_a_core * cores) +
                   " on this host, which has " + std::to_string(cores) +
                   (cores == 1 ? " core" : " cores") +
                   "; name more hosts, as in --mpirun \"mpirun --hostfile FILE\"");
}

}  // namespace rubato::app
