// Compiled for processors with AVX-512, where the compiler can (CMakeLists.txt). It calls nothing
// that other files might call too: the linker could take this file's copy for all of them, and
// other processors would trip over it (tests/build/check_wide_code.py).
#include "nn/few_channel_kernels.hpp"
#include "nn/one_channel_kernels.hpp"

namespace rubato::nn {

const ConvolutionPasses* convolution_kernels_of_512_bits() {
#ifdef __AVX512F__
  static constexpr ConvolutionPasses passes{one_channel_here, few_channels_here};
  return &passes;
#else
  return nullptr;
#endif
}

}  // namespace rubato::nn
