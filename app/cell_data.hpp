// The data of a study's cells, loaded once: the study holds their image (data_image.hpp), and each
// cell that it starts is told of it by its environment.
#pragma once

#include <optional>
#include <string>

#include "app/options.hpp"
#include "data/data_image.hpp"

namespace rubato::app {

class CellData {
 public:
  CellData() = default;
  CellData(const CellData&) = delete;
  CellData& operator=(const CellData&) = delete;
  ~CellData();

  // For the processes that are started from now on: an image of what `options` (of a training) ask
  // for. One image at a time. Where the data cannot be loaded, or not be held, there is none: then
  // each cell loads them itself, and says what is wrong with them.
  void provide(const Options& options);

 private:
  std::optional<data::DataOptions> asked_for_;
  std::optional<data::DataImage> image_;
};

}  // namespace rubato::app
