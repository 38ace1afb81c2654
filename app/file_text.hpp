// A small file as text, where a file that cannot be read is as good as an empty one.
#pragma once

#include <filesystem>
#include <string>

namespace rubato::app {

std::string file_text(const std::filesystem::path& file);

}  // namespace rubato::app
