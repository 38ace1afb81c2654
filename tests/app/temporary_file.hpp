// A file for one test, removed at its end. Its name is its own: tests run beside each other.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace rubato::app {

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text = "")
      : path_((std::filesystem::temp_directory_path() / "rubato-test-XXXXXX").string()) {
    const int descriptor = ::mkstemp(path_.data());
    if (descriptor < 0) throw std::runtime_error("cannot create " + path_);
    ::close(descriptor);
    write(text);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { ::unlink(path_.c_str()); }

  void write(const std::string& text) { std::ofstream(path_, std::ios::trunc) << text; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace rubato::app
