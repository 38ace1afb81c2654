// Which kernels compute: part of a run's definition, recorded with it and agreed over all ranks.
#pragma once

#include <string>
#include <vector>

namespace rubato::nn {

// onednn_direct never convolves by Winograd's algorithm (convolution_descriptions.hpp): slower,
// with less than half of the rounding error. Nor does it put channels into blocks, or take kernels
// of our own: passes for images of one channel or a few (convolution_passes.hpp), as both others
// do, and with AVX2 alone a weight's gradient (weight_gradient_3x3.hpp) and dense layers'
// products (dense_products.hpp), as onednn does.
enum class Backend { eigen, onednn, onednn_direct };

struct Kernels {
  std::string backend;  // "eigen", "onednn" or "onednn-direct"
  std::string version;  // "Eigen 3.4.0" / "oneDNN 2.6.3"
  std::string isa;      // instruction set in use, "avx2", "avx512_core", ...
};

std::vector<std::string> backend_names();  // those of this build, the default (fastest) first
Backend backend(const std::string& name);  // throws std::invalid_argument; "auto" is the default
// Limits oneDNN to an instruction set ("auto", "sse41", "avx", "avx2", "avx512_core") and
// everything to one compute thread. Must be the first call of this folder in the process, on the
// thread that computes; a second call with another isa throws std::logic_error. Throws
// std::invalid_argument for an unknown name or one that this CPU or build has not.
void select_kernels(Backend backend, const std::string& isa);
Kernels kernels(Backend backend);
// Checks that arithmetic is what the promise needs: rounding to nearest, denormals kept, no
// contraction. Throws std::runtime_error.
void check_arithmetic();

}  // namespace rubato::nn
