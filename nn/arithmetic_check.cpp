// The start-up test of what the promise takes for granted of float arithmetic. Libraries switch
// modes behind a program's back (one object linked with -ffast-math sets flush-to-zero for the
// whole process), so it is tested at run time.
#include <cfenv>
#include <stdexcept>

#include "nn/backend.hpp"
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace rubato::nn {
namespace {

void require(bool holds, const char* sentence) {
  if (!holds) throw std::runtime_error(sentence);
}

bool flushes_denormals() {
#if defined(__SSE__)
  constexpr unsigned flush_to_zero = 0x8000;
  constexpr unsigned denormals_are_zero = 0x0040;
  if ((_mm_getcsr() & (flush_to_zero | denormals_are_zero)) != 0) return true;
#endif
  volatile float smallest_normal = 0x1p-126F;
  return smallest_normal * 0.5F == 0.0F;
}

// a * a is 1 + 2^-11 + 2^-24, which rounds to 1 + 2^-11: one rounding more or less shows.
bool contracts() {
  volatile float a = 1.0F + 0x1p-12F;
  volatile float c = -(1.0F + 0x1p-11F);
  const float x = a;
  const float y = c;
  return x * x + y != 0.0F;
}

// Fast-math would cancel the large term.
bool reorders() {
  volatile float large = 1e8F;
  volatile float one = 1.0F;
  return (large + one) - large != 0.0F;
}

}  // namespace

void check_arithmetic() {
  require(std::fegetround() == FE_TONEAREST,
          "floating-point rounding is not to nearest; something in the process changed it");
  require(!flushes_denormals(),
          "denormal floats are flushed to zero; do not link objects built with -ffast-math");
  require(!contracts(), "a*b+c is computed with one rounding; build with -ffp-contract=off");
  require(!reorders(), "float sums are reordered; build without -ffast-math");
}

}  // namespace rubato::nn
