// See decisions_file.hpp.
#include "runtime/decisions_file.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

namespace rubato::runtime {

namespace {

// Of whole lines that the file and the text begin with.
std::uint64_t common_bytes(const std::filesystem::path& file, const std::string& text) {
  if (std::filesystem::symlink_status(file).type() != std::filesystem::file_type::regular) return 0;
  std::string there(text.size(), '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(there.data(), static_cast<std::streamsize>(there.size()));
  there.resize(static_cast<std::size_t>(stream.gcount()));
  const auto differs = std::ranges::mismatch(there, text).in1;
  const auto end = static_cast<std::size_t>(differs - there.begin());
  const auto line_end = end == 0 ? std::string::npos : there.rfind('\n', end - 1);
  return line_end == std::string::npos ? 0 : line_end + 1;
}

}  // namespace

DecisionsFile::DecisionsFile(const std::filesystem::path& file, const std::string& text)
    : kept_bytes_(common_bytes(file, text)), lines_(file, kept_bytes_) {
  std::istringstream rest(text.substr(kept_bytes_));
  for (std::string line; std::getline(rest, line);) lines_.append(line);
}

}  // namespace rubato::runtime
