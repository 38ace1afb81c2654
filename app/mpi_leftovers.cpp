// See mpi_leftovers.hpp. The family of a job stands in the session directory's contact.txt, whose
// first line is "JOBID.0;tcp://...", JOBID being decimal and the family its upper 16 bits
// (Open MPI 4.1: orte/mca/plm/base/plm_base_jobid.c, opal/mca/btl/vader/btl_vader_component.c).
#include "app/mpi_leftovers.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <exception>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>

namespace rubato::app {
namespace {

namespace fs = std::filesystem;

std::optional<unsigned> family_of(const fs::path& session) {
  std::ifstream contact(session / "contact.txt");
  std::uint32_t job = 0;
  if (!(contact >> job)) return std::nullopt;
  return job >> 16U;
}

void remove_shared_memory(const fs::path& folder, unsigned family) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::error_code refusal;  // of files that belong to somebody else
    if (is_shared_by_family(entry.path().filename().string(), family)) {
      fs::remove(entry.path(), refusal);
    }
  }
}

}  // namespace

MpiFolders mpi_folders() {
  std::error_code error;
  const auto temporary = fs::temp_directory_path(error);
  return {error ? fs::path("/tmp") : temporary, "/dev/shm"};
}

std::optional<MpiSession> find_mpi_session(pid_t mpirun, const MpiFolders& folders) noexcept {
  try {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folders.temporary, error)) {
      if (entry.path().filename().string().rfind("ompi.", 0) != 0) continue;
      const auto session = entry.path() / ("pid." + std::to_string(mpirun));
      if (fs::is_directory(session, error)) return MpiSession{session, family_of(session)};
    }
  } catch (const std::exception&) {  // a folder that changes under our eyes: there is none yet
  }
  return std::nullopt;
}

void remove_mpi_leftovers(const MpiSession& session, const MpiFolders& folders) noexcept {
  try {
    if (session.family) remove_shared_memory(folders.shared_memory, *session.family);
    std::error_code error;
    fs::remove_all(session.directory, error);
  } catch (const std::exception&) {  // what cannot be removed stays
  }
}

bool is_shared_by_family(std::string_view file_name, unsigned family) {
  const bool is_ours = file_name.rfind("rubato.", 0) == 0;
  if (!is_ours && file_name.rfind("vader_segment.", 0) != 0) return false;
  while (!file_name.empty()) {
    const auto word = file_name.substr(0, file_name.find('.'));
    file_name.remove_prefix(std::min(word.size() + 1, file_name.size()));
    std::uint32_t job = 0;
    const char* end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, job, is_ours ? 10 : 16);
    if (error == std::errc{} && stop == end && job == (family << 16U | 1U)) return true;
  }
  return false;
}

}  // namespace rubato::app
