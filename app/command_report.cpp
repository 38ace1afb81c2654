// rubato report: the page of runs and studies that are there. Nothing is trained, and MPI is not
// needed.
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <span>

#include "app/commands.hpp"
#include "app/failure.hpp"
#include "app/report_content.hpp"
#include "app/report_options.hpp"
#include "app/report_page.hpp"
#include "runtime/committed_file.hpp"
#include "runtime/errors.hpp"
#include "runtime/temporary_file.hpp"

namespace rubato::app {
namespace {

// Before the work.
void require_directory_of(const std::filesystem::path& file) {
  const auto directory = runtime::directory_of(file);
  const bool is_writable = ::access(directory.c_str(), W_OK | X_OK) == 0;
  if (is_writable && !std::filesystem::is_directory(file)) return;
  throw runtime::OutputError(file.string() +
                             (is_writable ? " is a directory: --output names a file"
                                          : ": the directory " + directory.string() +
                                                " does not exist or may not be written to"));
}

}  // namespace

int report(int argc, char** argv) {
  const OptionTable table = report_table();
  if (asks_for_help(argc, argv) || argc == 2) {
    std::cout << table.help();
    return exit_done;
  }
  const Options options = table.parse(argc, argv);
  const std::string& output = options.text("output");
  require_directory_of(output);
  const std::string page = report_page(read_content(options.positionals()));
  runtime::commit_file(output, std::as_bytes(std::span(page)));
  std::cout << "report: " << output << '\n';
  return exit_done;
}

}  // namespace rubato::app
