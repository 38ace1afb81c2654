// Built-in models by name.
//
//   linear          one dense layer
//   mlp:512,512     dense layers with ReLU between
//   mnist           conv 5x5 (10), max-pool 2, ReLU, BatchNorm; conv 5x5 (20), the same;
//                   dense 50, ReLU; dense classes
//   mnist-tutorial  conv 3x3 (32), ReLU; conv 3x3 (64), ReLU; max-pool 2; dropout 0.25;
//                   dense 128, ReLU; dropout 0.5; dense classes.
//                   `mnist-tutorial:dropout=0` switches dropout off.
//   resnet20|32|56  residual networks for small images (nn/residual_networks.hpp)
//   resnet18|50     residual networks for large images
//
// All end in log-softmax and the negative log-likelihood.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "nn/backend.hpp"
#include "nn/model.hpp"

namespace rubato::nn {

struct InputShape {
  std::size_t height = 1;
  std::size_t width = 1;
  std::size_t channels = 1;
};

// Throws std::invalid_argument: an unknown name (listing the valid ones), a malformed
// parameter, or a shape too small.
std::unique_ptr<Model> make_model(const std::string& spec, InputShape input, std::size_t classes,
                                  Backend backend);
std::vector<std::string> model_names();

}  // namespace rubato::nn
