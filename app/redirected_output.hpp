// Standard output and standard error of this process go to a file for a while, and so do those of
// processes that are started meanwhile, for as long as they live.
#pragma once

#include <filesystem>
#include <string>

namespace rubato::app {

class RedirectedOutput {
 public:
  // Appends to the file. Throws runtime::OutputError if it cannot be opened.
  explicit RedirectedOutput(const std::filesystem::path& file);
  RedirectedOutput(const RedirectedOutput&) = delete;
  RedirectedOutput& operator=(const RedirectedOutput&) = delete;
  ~RedirectedOutput();  // back to where they went

 private:
  int former_output_;
  int former_error_;
};

// The last line of a text file that is not empty; empty if there is none.
std::string last_line(const std::filesystem::path& file);

}  // namespace rubato::app
