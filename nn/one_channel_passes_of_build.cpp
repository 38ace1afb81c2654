#include "nn/one_channel_kernels.hpp"

namespace rubato::nn {

const OneChannelPasses* one_channel_passes_of_build() { return &passes_here; }

}  // namespace rubato::nn
