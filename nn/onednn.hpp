// What our uses of oneDNN share: one engine, one stream, memory objects over memory of our own.
#pragma once

#include <cstddef>
#include <oneapi/dnnl/dnnl.hpp>
#include <span>

#include "nn/aligned_buffer.hpp"

namespace rubato::nn {

inline const dnnl::engine& cpu_engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

inline dnnl::stream& cpu_stream() {
  static dnnl::stream stream(cpu_engine());
  return stream;
}

// oneDNN's kernels for it like other orders of their operands than those for AVX-512.
inline bool has_avx2_alone() { return dnnl::get_effective_cpu_isa() == dnnl::cpu_isa::avx2; }

// oneDNN's memory objects take pointers to non-const, also for what they only read.
inline void point_at(dnnl::memory& object, std::span<const float> values) {
  object.set_data_handle(const_cast<float*>(values.data()));
}

inline dnnl::memory unattached(const dnnl::memory::desc& description) {
  return {description, cpu_engine(), nullptr};
}

inline std::size_t float_count(const dnnl::memory::desc& description) {
  return (description.get_size() + sizeof(float) - 1) / sizeof(float);
}

// Space for one pass of a layer, the same memory for all passes of a thread: to ask again ends what
// was asked for before. In small pages, as kernels ask for much more than they touch; what that is
// shows later (runtime/used_memory).
inline std::span<float> onednn_scratch(std::size_t floats) {
  thread_local AlignedBuffer<float, Pages::small> buffer;
  return buffer.first(floats);
}

}  // namespace rubato::nn
