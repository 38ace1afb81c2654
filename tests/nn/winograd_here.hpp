// Whether oneDNN has Winograd's kernels for this process: those of Debian 12 ask for AVX-512.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

namespace rubato::nn {

inline bool has_winograd_here() {
  constexpr unsigned needed = dnnl_cpu_isa_avx512_core;
  return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & needed) == needed;
}

}  // namespace rubato::nn
