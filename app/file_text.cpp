// See file_text.hpp.
#include "app/file_text.hpp"

#include <fstream>

namespace rubato::app {

std::optional<std::string> read_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  std::string text;
  char block[4096];
  // read() makes a failure a state of the stream; an iterator over its buffer would throw.
  while (in.read(block, sizeof block) || in.gcount() > 0) {
    text.append(block, static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) return std::nullopt;
  return text;
}

std::string file_text(const std::filesystem::path& file) { return read_text(file).value_or(""); }

}  // namespace rubato::app
