// DIR/run.lock: one run at a time writes to a directory.
//
// The kernel's lock decides (flock): it is gone with its process, however that ends. The file says
// who holds it, as one line of JSON, and stays when the lock is released. On file systems without
// flock the content decides instead: a holder on this host counts while its process lives (its
// start time tells it from a recycled pid), one on another host while the file is younger than
// 60 s, which a thread of the holder keeps it.
#pragma once

#include <chrono>
#include <filesystem>
#include <thread>

namespace rubato::runtime {

// For tests of what happens where flock is missing.
enum class LockMethod { kernel, content };

class RunLock {
 public:
  // Throws OutputError within 1 s if another run holds the directory, naming it, or if the file
  // cannot be made.
  explicit RunLock(const std::filesystem::path& directory, LockMethod method = LockMethod::kernel,
                   std::chrono::milliseconds between_touches = std::chrono::seconds(10));
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;
  ~RunLock();

 private:
  std::filesystem::path file_;
  int descriptor_ = -1;
  std::jthread toucher_;  // where the content decides
};

// Throws OutputError, naming the run, if one holds the directory now. Takes part in no lock of its
// own for longer than an instant; a missing or damaged file is no run.
void require_unused(const std::filesystem::path& directory);

}  // namespace rubato::runtime
