// See usual_places.hpp.
#include "data/usual_places.hpp"

#include <cstdlib>
#include <system_error>

#include "data/errors.hpp"

namespace rubato::data {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

void add_below(std::vector<fs::path>& places, const char* variable, const fs::path& below) {
  const char* base = std::getenv(variable);
  if (base != nullptr && *base != '\0') places.push_back(base / below);
}

}  // namespace

std::vector<fs::path> usual_places(const std::string& name) {
  std::vector<fs::path> places;
  add_below(places, "RUBATO_DATA", name);
  places.push_back(fs::path("data") / name);
  places.push_back(fs::path("/usr/share/datasets") / name);
  add_below(places, "HOME", fs::path(".cache/rubato") / name);
  add_below(places, "HOME", fs::path("data") / name);
  return places;
}

bool has_file(const fs::path& directory, const std::string& name) {
  return is_there(directory / name) || is_there(directory / (name + ".gz"));
}

fs::path find_directory(const std::vector<fs::path>& directories, const std::string& file,
                        const std::string& advice) {
  std::string searched;
  for (const fs::path& directory : directories) {
    if (has_file(directory, file)) return directory;
    searched += (searched.empty() ? "" : ", ") + directory.string();
  }
  throw MissingFileError(file + ": not found in " + searched + "; " + advice);
}

fs::path find_file(const fs::path& directory, const std::string& name, const std::string& advice) {
  for (const std::string& candidate : {name, name + ".gz"}) {
    if (is_there(directory / candidate)) return directory / candidate;
  }
  throw MissingFileError((directory / name).string() + "[.gz]: not found; " + advice);
}

}  // namespace rubato::data
