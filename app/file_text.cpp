// See file_text.hpp.
#include "app/file_text.hpp"

#include <fstream>
#include <iterator>

namespace rubato::app {

std::string file_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace rubato::app
