#include "nn/few_channel_kernels.hpp"
#include "nn/one_channel_kernels.hpp"

namespace rubato::nn {

const ConvolutionPasses* convolution_passes_of_build() {
  static constexpr ConvolutionPasses passes{one_channel_here, few_channels_here};
  return &passes;
}

}  // namespace rubato::nn
