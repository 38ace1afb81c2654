// What the outside world can do to a reader. Wrong option values are std::invalid_argument.
#pragma once

#include <stdexcept>

namespace rubato::data {

// The content of a file is wrong. The sentence names the file, the line and column (or byte), what
// was found, what was expected.
class ContentError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A file is not there (or may not be read). The sentence says how to get it, where that is known.
class MissingFileError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace rubato::data
