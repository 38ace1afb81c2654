// Data that one process has loaded, in memory that other processes of its host map: whoever trains
// many times on the same data loads them once, and holds them once.
//
// The memory (memfd_create(2)) belongs to the process that loaded them and ends with it; nothing is
// left behind, however it ends. It is sealed: nobody can write to it or shorten it any more.
#pragma once

#include <optional>
#include <string>

#include "data/data_source.hpp"

namespace rubato::data {

class DataImage {
 public:
  // Loads and copies what `options` ask for. Throws what open_data() throws; std::system_error
  // where there is no memory for it.
  explicit DataImage(const DataOptions& options);
  DataImage(DataImage&& other) noexcept;
  DataImage& operator=(DataImage&&) = delete;
  ~DataImage();

  // By which other processes of the host and the user find it.
  const std::string& name() const noexcept { return name_; }

 private:
  int descriptor_;
  std::string name_;
};

// Of the image `name`, if there is one here, made of these options in this working directory.
std::optional<DataSource> open_image(const std::string& name, const DataOptions& options);

// From the image if there is one, else from their files. Throws as open_data() does.
DataSource open_data(const DataOptions& options, const std::string& image_name);

}  // namespace rubato::data
