// Denormal numbers taken for zero, as long as this lives.
//
// What a unit that is never active leaves in an optimizer's averages shrinks with every update and
// then stays at the smallest denormals for good: a share of 0.9 of them is rounded back up. Some
// processors compute with such numbers a hundred times slower. So an optimizer's own arithmetic
// takes them for zero, on every rank alike; gradients keep them.
#pragma once

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace rubato::optim {

class FlushDenormals {
 public:
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;
#if defined(__SSE__)
  FlushDenormals() : kept_mode_(_mm_getcsr()) { _mm_setcsr(kept_mode_ | results | operands); }
  ~FlushDenormals() { _mm_setcsr(kept_mode_); }

 private:
  static constexpr unsigned results = 0x8000;   // flush to zero
  static constexpr unsigned operands = 0x0040;  // denormals are zero
  unsigned kept_mode_;
#else
  FlushDenormals() = default;
#endif
};

}  // namespace rubato::optim
