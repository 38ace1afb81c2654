// The data of a study's cells, loaded once: the study holds their image (data_image.hpp), and each
// cell that it starts is told of it by its environment.
#pragma once

#include <optional>
#include <string>

#include "data/data_image.hpp"

namespace rubato::app {

class CellData {
 public:
  CellData() = default;
  CellData(const CellData&) = delete;
  CellData& operator=(const CellData&) = delete;
  ~CellData();

  // For the processes that are started from now on: an image of the data. One image at a time, made
  // anew when others are asked for than the last time. Where the data cannot be loaded there is
  // none: then each cell loads them, and says what is wrong.
  void provide(const data::DataOptions& options);

 private:
  std::optional<data::DataOptions> asked_for_;
  std::optional<data::DataImage> image_;
};

// For a training: the name of the image that a study of this very build has told of; empty if none
// has.
std::string provided_data_image();

}  // namespace rubato::app
