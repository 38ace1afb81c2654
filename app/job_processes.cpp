// See job_processes.hpp. Reads /proc (proc(5)); what cannot be read belongs to somebody else or is
// gone.
#include "app/job_processes.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "app/file_text.hpp"
#include "app/option_value.hpp"

namespace rubato::app {
namespace {

namespace fs = std::filesystem;

// `environment` is NAME=VALUE words, each ended by a NUL.
bool has_word(std::string_view environment, std::string_view begin, bool is_whole) {
  for (std::size_t at = 0; at < environment.size();) {
    const auto end = std::min(environment.find('\0', at), environment.size());
    const auto word = environment.substr(at, end - at);
    if (is_whole ? word == begin : word.substr(0, begin.size()) == begin) return true;
    at = end + 1;
  }
  return false;
}

bool has_rank_number(std::string_view environment) {
  return has_word(environment, "OMPI_COMM_WORLD_RANK=", false) ||
         has_word(environment, "PMIX_RANK=", false);
}

// The number on the line "NAME:\tNUMBER" of /proc/PID/status; 0 if there is none.
std::uint64_t status_number(const std::string& status, const std::string& name, int base) {
  const auto line = status.find("\n" + name + ":\t");
  if (line == std::string::npos) return 0;
  std::uint64_t number = 0;
  const char* begin = status.data() + line + name.size() + 3;
  std::from_chars(begin, status.data() + status.size(), number, base);
  return number;
}

pid_t parent_of(const fs::path& process) {
  return static_cast<pid_t>(status_number(file_text(process / "status"), "PPid", 10));
}

}  // namespace

std::vector<JobProcess> find_job_processes(const std::string& mark) {
  const std::string word = std::string(job_mark_variable) + "=" + mark;
  std::vector<JobProcess> found;
  std::vector<pid_t> parents;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const auto pid = parse_whole<pid_t>(entry.path().filename().string());
    if (!pid || *pid == ::getpid()) continue;
    const std::string environment = file_text(entry.path() / "environ");  // empty for a zombie
    if (!has_word(environment, word, true)) continue;
    found.push_back({*pid, has_rank_number(environment)});
    parents.push_back(parent_of(entry.path()));
  }
  const auto all = found;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto is_parent = [&](const JobProcess& other) {
      return other.is_rank && other.pid == parents[i];
    };
    if (std::any_of(all.begin(), all.end(), is_parent)) found[i].is_rank = false;
  }
  return found;
}

pid_t find_mpirun(const std::vector<JobProcess>& processes, pid_t launcher) {
  for (const auto& process : processes) {
    const std::string name = file_text("/proc/" + std::to_string(process.pid) + "/comm");
    if (name == "mpirun\n" || name == "orterun\n" || name == "mpiexec\n") return process.pid;
  }
  return launcher;
}

bool listens_to(pid_t pid, int signal) {
  const std::string status = file_text("/proc/" + std::to_string(pid) + "/status");
  const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(signal - 1);
  const auto mask = status_number(status, "SigCgt", 16) | status_number(status, "SigIgn", 16);
  return (mask & bit) != 0;
}

}  // namespace rubato::app
