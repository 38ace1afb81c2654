// Data that one process has loaded, in memory that other processes of its host map: whoever trains
// many times on the same data loads them once, and holds them once.
//
// The memory (memfd_create(2)) ends with the last process that has it, however that ends: nothing
// is left behind. It can be found as long as its maker lives. It is sealed: nobody can write to it
// or shorten it any more.
#pragma once

#include <optional>
#include <string>

#include "data/data_source.hpp"

namespace rubato::data {

class DataImage {
 public:
  // Loads and copies what `options` ask for; while it does, it holds them twice. Throws what
  // open_data() throws; std::system_error where the system refuses the memory.
  explicit DataImage(const DataOptions& options);
  DataImage(const DataImage&) = delete;
  DataImage& operator=(const DataImage&) = delete;
  ~DataImage();

  // By which other processes of the host and the user find it.
  const std::string& name() const noexcept { return name_; }

 private:
  const int descriptor_;
  std::string name_;
};

// Of the image `name`, if there is one here, made of these options in this working directory. Its
// maker must be of the same build: another one may lay an image out, or read files, in another way.
std::optional<DataSource> open_image(const std::string& name, const DataOptions& options);

// From the image if there is one, else from their files. Throws as open_data() does.
DataSource open_data(const DataOptions& options, const std::string& image_name);

}  // namespace rubato::data
