// A look at the lock takes it for an instant (shared), so a start that finds it held tries again
// before it believes it.
#include "runtime/run_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <ctime>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>

#include "collectives/host_name.hpp"
#include "runtime/errors.hpp"
#include "runtime/process_info.hpp"
#include "runtime/signals_blocked.hpp"
#include "runtime/utc_time.hpp"

namespace rubato::runtime {

namespace {

using namespace std::chrono_literals;

constexpr auto patience = 400ms;  // for a lock that is held; bar: refused within 1 s
constexpr auto pause_between_tries = 20ms;
constexpr auto settling_time = 50ms;  // for two that wrote their names at the same time
constexpr std::time_t life_of_foreign_holder = 60;  // seconds since the file was touched
constexpr std::size_t largest_content = 4096;

enum class Try { taken, held, unsupported };

struct RunHolder {
  std::string host;
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;  // when the process began, in clock ticks since the host did
  std::string since;              // UTC
};

std::string reason() { return std::generic_category().message(errno); }

Try try_lock(int descriptor, int operation) {
  while (::flock(descriptor, operation | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno == EWOULDBLOCK) return Try::held;
    if (errno == ENOLCK || errno == EOPNOTSUPP || errno == ENOSYS) return Try::unsupported;
    throw std::system_error(errno, std::generic_category());
  }
  return Try::taken;
}

RunHolder this_process() {
  const auto info = process_info(::getpid());
  return {collectives::host_name(), ::getpid(), info ? info->start_ticks : 0, utc_time()};
}

// Who the file names; nothing if it names nobody.
std::optional<RunHolder> read_holder(int descriptor) {
  std::array<char, largest_content> text{};
  const ssize_t size = ::pread(descriptor, text.data(), text.size(), 0);
  if (size <= 0) return std::nullopt;
  const auto json = nlohmann::json::parse(text.data(), text.data() + size, nullptr,
                                          /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  try {
    return RunHolder{json.at("host"), json.at("pid"), json.at("start_ticks"), json.at("since")};
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

bool write_holder(int descriptor, const RunHolder& holder) {
  const std::string line = nlohmann::ordered_json{{"host", holder.host},
                                                  {"pid", holder.pid},
                                                  {"start_ticks", holder.start_ticks},
                                                  {"since", holder.since}}
                               .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
                           "\n";
  return ::pwrite(descriptor, line.data(), line.size(), 0) == static_cast<ssize_t>(line.size()) &&
         ::ftruncate(descriptor, static_cast<off_t>(line.size())) == 0;
}

bool is_this_process(const RunHolder& holder) {
  const RunHolder self = this_process();
  return holder.host == self.host && holder.pid == self.pid &&
         holder.start_ticks == self.start_ticks;
}

// Whether the one that the file names still holds it, where the kernel cannot say.
bool is_alive(const RunHolder& holder, int descriptor) {
  if (holder.host == collectives::host_name()) {
    const auto process = process_info(holder.pid);
    return process && !process->is_dead() && process->start_ticks == holder.start_ticks;
  }
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 &&
         std::time(nullptr) - status.st_mtime < life_of_foreign_holder;
}

bool is_held(Try lock, const std::optional<RunHolder>& holder, int descriptor) {
  return lock == Try::held || (lock == Try::unsupported && holder && is_alive(*holder, descriptor));
}

[[noreturn]] void refuse(const std::filesystem::path& directory,
                         const std::optional<RunHolder>& holder) {
  const std::string who = holder ? "process " + std::to_string(holder->pid) + " on " +
                                       holder->host + " since " + holder->since
                                 : std::string("another process");
  throw OutputError(directory.string() + " is in use by " + who +
                    ": stop it first, or choose another directory");
}

Try lock_with_patience(int descriptor, LockMethod method) {
  if (method == LockMethod::content) return Try::unsupported;
  const auto end = std::chrono::steady_clock::now() + patience;
  Try result = try_lock(descriptor, LOCK_EX);
  while (result == Try::held && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(pause_between_tries);
    result = try_lock(descriptor, LOCK_EX);
  }
  return result;
}

// Throws OutputError and holds nothing, or the descriptor's file is this process's. By which
// method it is held.
LockMethod take(int descriptor, const std::filesystem::path& file, LockMethod method) {
  const std::filesystem::path directory = file.parent_path();
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    throw OutputError("cannot lock " + file.string() + ": it is not a regular file; remove it");
  }
  const Try kernel = lock_with_patience(descriptor, method);
  const auto former = read_holder(descriptor);
  if (is_held(kernel, former, descriptor)) refuse(directory, former);
  if (!write_holder(descriptor, this_process())) {
    throw OutputError("cannot write " + file.string() + ": " + reason());
  }
  if (kernel == Try::unsupported) {
    std::this_thread::sleep_for(settling_time);
    const auto holder = read_holder(descriptor);
    if (!holder || !is_this_process(*holder)) refuse(directory, holder);
  }
  return kernel == Try::unsupported ? LockMethod::content : LockMethod::kernel;
}

// Shows other hosts that the holder lives, whatever the training is at. Errors are of no
// consequence, so none is told.
void keep_young(const std::stop_token& stop, int descriptor, std::chrono::milliseconds interval) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  while (!wake.wait_for(lock, stop, interval, [&] { return stop.stop_requested(); })) {
    ::futimens(descriptor, nullptr);
  }
}

}  // namespace

RunLock::RunLock(const std::filesystem::path& directory, LockMethod method,
                 std::chrono::milliseconds between_touches)
    : file_(directory / "run.lock"),
      descriptor_(
          ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666)) {
  if (descriptor_ < 0) throw OutputError("cannot open " + file_.string() + ": " + reason());
  try {
    if (take(descriptor_, file_, method) == LockMethod::content) {
      const SignalsBlocked for_the_thread;
      toucher_ = std::jthread(keep_young, descriptor_, between_touches);
    }
  } catch (const std::system_error& error) {
    ::close(descriptor_);
    throw OutputError("cannot lock " + file_.string() + ": " + error.code().message());
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

// Emptied, so that whoever must go by the content need not wait for it to grow old.
RunLock::~RunLock() {
  toucher_ = {};
  [[maybe_unused]] const int ignored = ::ftruncate(descriptor_, 0);
  ::close(descriptor_);
}

void require_unused(const std::filesystem::path& directory) {
  const std::filesystem::path file = directory / "run.lock";
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) return;
  std::optional<RunHolder> holder;
  bool is_used = false;
  try {
    const Try lock = try_lock(descriptor, LOCK_SH);
    holder = read_holder(descriptor);
    is_used = is_held(lock, holder, descriptor);
  } catch (const std::system_error&) {
    is_used = false;
  }
  ::close(descriptor);
  if (is_used) refuse(directory, holder);
}

}  // namespace rubato::runtime
