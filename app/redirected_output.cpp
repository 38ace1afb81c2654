// See redirected_output.hpp.
#include "app/redirected_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>

#include "runtime/errors.hpp"

namespace rubato::app {
namespace {

void flush() {
  std::cout.flush();
  std::cerr.flush();
}

int put_in_place(int descriptor, int place) {
  const int former = ::fcntl(place, F_DUPFD_CLOEXEC, 3);
  ::dup2(descriptor, place);
  return former;
}

// A stream that was closed before is closed again.
void put_back(int former, int place) {
  if (former < 0) {
    ::close(place);
    return;
  }
  ::dup2(former, place);
  ::close(former);
}

}  // namespace

RedirectedOutput::RedirectedOutput(const std::filesystem::path& file) {
  flush();
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    throw runtime::OutputError(file.string() + ": cannot be written: " + std::strerror(errno));
  }
  former_output_ = put_in_place(descriptor, STDOUT_FILENO);
  former_error_ = put_in_place(descriptor, STDERR_FILENO);
  ::close(descriptor);
}

RedirectedOutput::~RedirectedOutput() {
  flush();
  put_back(former_output_, STDOUT_FILENO);
  put_back(former_error_, STDERR_FILENO);
}

std::string last_line(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string last;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

}  // namespace rubato::app
