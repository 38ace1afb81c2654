// rubato checkpoint show: all that a checkpoint holds, its tensors by shape, range and norm.
#pragma once

#include <cstddef>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "app/checkpoint_files.hpp"

namespace rubato::app {

struct TensorRange {
  float least = 0;  // of what is finite
  float largest = 0;
  double norm = 0;             // Euclidean, of what is finite
  std::size_t not_finite = 0;  // elements that are infinite or not a number
};
TensorRange range_of(std::span<const float> values);

std::string shape_text(const std::vector<std::size_t>& shape);  // "[64, 3, 3, 3]"; "[]"

void show_as_text(std::ostream& out, const NamedCheckpoint& named);
void show_as_json(std::ostream& out, const NamedCheckpoint& named);

}  // namespace rubato::app
