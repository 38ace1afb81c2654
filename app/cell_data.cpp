// See cell_data.hpp.
#include "app/cell_data.hpp"

#include <stdlib.h>

#include <exception>
#include <utility>

#include "app/run_from_options.hpp"

namespace rubato::app {

CellData::~CellData() { ::unsetenv(data_image_variable); }

void CellData::provide(const Options& options) {
  auto asked_for = data_options(options);
  if (asked_for_ == asked_for) return;
  asked_for_ = std::move(asked_for);
  ::unsetenv(data_image_variable);
  image_.reset();
  try {
    image_.emplace(*asked_for_);
    ::setenv(data_image_variable, image_->name().c_str(), 1);
  } catch (const std::exception&) {
    image_.reset();
  }
}

}  // namespace rubato::app
