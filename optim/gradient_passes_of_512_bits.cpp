// Compiled for processors with AVX-512, where the compiler can (CMakeLists.txt). It calls nothing
// that other files might call too: the linker could take this file's copy for all of them, and
// other processors would trip over it (tests/build/check_wide_code.py).
#include "optim/gradient_kernels.hpp"

namespace rubato::optim {

template <class T>
const GradientPasses<T>* passes_of_512_bits() {
#ifdef __AVX512F__
  return &passes_here<T>;
#else
  return nullptr;
#endif
}

template const GradientPasses<double>* passes_of_512_bits();
template const GradientPasses<float>* passes_of_512_bits();

}  // namespace rubato::optim
