// Compiled for processors with AVX-512, where the compiler can (CMakeLists.txt). It calls nothing
// that other files might call too: the linker could take this file's copy for all of them, and
// other processors would trip over it (tests/build/check_wide_code.py).
#include "nn/one_channel_kernels.hpp"

namespace rubato::nn {

const OneChannelPasses* one_channel_kernels_of_512_bits() {
#ifdef __AVX512F__
  return &passes_here;
#else
  return nullptr;
#endif
}

}  // namespace rubato::nn
