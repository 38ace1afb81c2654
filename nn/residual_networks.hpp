// Residual networks: He et al., "Deep Residual Learning for Image Recognition", arXiv 1512.03385.
//
//   resnet20|32|56  section 4.2: 3x3 convolution 16, then three stages of 3, 5 or 9 basic
//                   blocks with 16, 32 and 64 channels, halving the image at the second and third
//   resnet18|50     table 1: 7x7 convolution 64 with stride 2, 3x3 max-pool with stride 2, then
//                   stages of basic blocks (2, 2, 2, 2) or bottlenecks (3, 4, 6, 3)
//
// All end in the mean over the pixels and a dense layer. A basic block is two 3x3 convolutions; a
// bottleneck is 1x1, 3x3, 1x1 with four times the channels at its end. Stride 2 is taken by the
// block's first 3x3 convolution, as in torchvision.
//
// Where a block changes the shape, its shortcut is a 1x1 convolution with BatchNorm (the paper's
// option B), also in the small networks, for which the paper took identity with zero padding
// (option A, 0.8 % fewer parameters in resnet20). So every tensor has torchvision's name, and
// weights pass to and from the CIFAR networks that are derived from torchvision by nothing but
// their names (github.com/chenyaofo/pytorch-cifar-models, pytorch_cifar_models/resnet.py: 272 474
// parameters in resnet20).
#pragma once

#include <cstddef>

#include "nn/model_builder.hpp"

namespace rubato::nn {

void add_resnet20(ModelBuilder& model, std::size_t classes);
void add_resnet32(ModelBuilder& model, std::size_t classes);
void add_resnet56(ModelBuilder& model, std::size_t classes);
void add_resnet18(ModelBuilder& model, std::size_t classes);
void add_resnet50(ModelBuilder& model, std::size_t classes);

}  // namespace rubato::nn
