// A disk that is full, because the process's limit of file size says so.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

namespace rubato::runtime {

// While it lives, no file may grow beyond this.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) {
    former_handler_ = ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &former_);
    const struct rlimit small { bytes, former_.rlim_max };
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &former_);
    ::signal(SIGXFSZ, former_handler_);
  }

 private:
  struct rlimit former_ {};
  void (*former_handler_)(int);
};

}  // namespace rubato::runtime
