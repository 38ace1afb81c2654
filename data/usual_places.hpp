// Where the well-known data sets usually lie, and what to say if they do not.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace rubato::data {

// $RUBATO_DATA/NAME, ./data/NAME, /usr/share/datasets/NAME, ~/.cache/rubato/NAME, ~/data/NAME.
std::vector<std::filesystem::path> usual_places(const std::string& name);

// The first of `directories` that holds `file` or `file`.gz. Throws MissingFileError naming the
// file, all directories, and `advice`.
std::filesystem::path find_directory(const std::vector<std::filesystem::path>& directories,
                                     const std::string& file, const std::string& advice);

// `directory`/`name`, or the same with .gz. Throws MissingFileError with `advice`.
std::filesystem::path find_file(const std::filesystem::path& directory, const std::string& name,
                                const std::string& advice);
bool has_file(const std::filesystem::path& directory, const std::string& name);

}  // namespace rubato::data
