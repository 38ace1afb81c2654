#include "optim/gradient_passes.hpp"

#include <bit>

namespace rubato::optim {

// Defined in gradient_passes_of_build.cpp and gradient_passes_of_512_bits.cpp; of the latter null
// where the compiler makes no code for such processors.
template <class T>
const GradientPasses<T>* passes_of_build();
template <class T>
const GradientPasses<T>* passes_of_512_bits();

namespace {

// Whether the processor has what x86-64-v4 is, for which gradient_passes_of_512_bits.cpp is
// compiled.
bool has_512_bits() {
#ifdef __x86_64__
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

}  // namespace

double sum_in_order(const LaneSquares& squares) {
  return sum_in_order(std::bit_cast<LaneSums>(squares));
}

template <class T>
const GradientPasses<T>* gradient_passes(VectorWidth width) {
  if (width == VectorWidth::of_build) return passes_of_build<T>();
  return has_512_bits() ? passes_of_512_bits<T>() : nullptr;
}

template <class T>
const GradientPasses<T>& gradient_passes() {
  static const GradientPasses<T>* const widest = [] {
    const auto* const wide = gradient_passes<T>(VectorWidth::of_512_bits);
    return wide != nullptr ? wide : gradient_passes<T>(VectorWidth::of_build);
  }();
  return *widest;
}

template const GradientPasses<double>* gradient_passes(VectorWidth);
template const GradientPasses<float>* gradient_passes(VectorWidth);
template const GradientPasses<double>& gradient_passes();
template const GradientPasses<float>& gradient_passes();

}  // namespace rubato::optim
