#include "nn/convolution_passes.hpp"

namespace rubato::nn {

// Null where the compiler makes no code for such processors.
const ConvolutionPasses* convolution_kernels_of_512_bits();

const ConvolutionPasses* convolution_passes_of_512_bits() {
// A build for processors that round products before they add them would get other bits.
#if defined(__x86_64__) && defined(__FMA__)
  const bool has_them = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512vl");
  if (has_them) return convolution_kernels_of_512_bits();
#endif
  return nullptr;
}

const ConvolutionPasses& convolution_passes() {
  const ConvolutionPasses* const wide = convolution_passes_of_512_bits();
  return wide != nullptr ? *wide : *convolution_passes_of_build();
}

}  // namespace rubato::nn
