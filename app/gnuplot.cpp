// Script, picture and complaints go through files in a temporary directory: nothing can wait for
// anything.
#include "app/gnuplot.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "app/file_text.hpp"

namespace rubato::app {
namespace {

namespace fs = std::filesystem;

class WorkDirectory {
 public:
  WorkDirectory() : path_((fs::temp_directory_path() / "rubato-report-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) != nullptr) return;
    throw std::system_error(errno, std::generic_category(), "cannot create " + path_);
  }
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;
  ~WorkDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

class FileActions {
 public:
  FileActions() { ::posix_spawn_file_actions_init(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }

  void open(int descriptor, const std::string& file, int flags) {
    ::posix_spawn_file_actions_addopen(&actions_, descriptor, file.c_str(), flags, 0600);
  }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

// Ours, without what would change numbers or the terminal.
std::vector<std::string> environment() {
  std::vector<std::string> variables{"LC_ALL=C"};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const bool is_ours = text.starts_with("LC_") || text.starts_with("GNU") ||
                         text.starts_with("GDFONTPATH") || text.starts_with("LANG");
    if (!is_ours) variables.emplace_back(text);
  }
  return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

int exit_status_of(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
  }
  return status;
}

std::string first_line(const std::string& text) {
  const auto begin = text.find_first_not_of(" \n\r\t");
  if (begin == std::string::npos) return "it says nothing";
  return text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace

std::string gnuplot_output(const std::string& script) {
  const WorkDirectory directory;
  std::ofstream(directory.file("script"), std::ios::binary) << script;
  FileActions actions;
  actions.open(STDIN_FILENO, directory.file("script"), O_RDONLY);
  actions.open(STDOUT_FILENO, directory.file("picture"), O_WRONLY | O_CREAT);
  actions.open(STDERR_FILENO, directory.file("complaints"), O_WRONLY | O_CREAT);
  std::vector<std::string> words{"gnuplot", "--default-settings"};
  auto variables = environment();
  pid_t process = -1;
  const int error = ::posix_spawnp(&process, "gnuplot", actions.get(), nullptr,
                                   pointers_to(words).data(), pointers_to(variables).data());
  if (error == ENOENT) {
    throw GnuplotError(
        "gnuplot, which draws the plots of reports, is not installed: install the Debian package"
        " gnuplot-nox");
  }
  if (error != 0) {
    throw GnuplotError(
        std::string("gnuplot, which draws the plots of reports, cannot be started: ") +
        std::strerror(error));
  }
  const int status = exit_status_of(process);
  if (status == 0) return file_text(directory.file("picture"));
  throw GnuplotError("gnuplot has not drawn a plot of the report: " +
                     first_line(file_text(directory.file("complaints"))));
}

}  // namespace rubato::app
