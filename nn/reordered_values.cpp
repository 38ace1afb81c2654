// See reordered_values.hpp.
#include "nn/reordered_values.hpp"

#include "nn/aligned_buffer.hpp"

namespace rubato::nn {

ReorderedValues::ReorderedValues(const dnnl::memory::desc& networks,
                                 const dnnl::memory::desc& kernels)
    : networks_(unattached(networks)), kernels_(unattached(kernels)) {
  if (networks == kernels) return;
  floats_ = whole_lines(float_count(kernels));
  to_kernels_ = dnnl::reorder(networks_, kernels_);
  to_network_ = dnnl::reorder(kernels_, networks_);
}

void ReorderedValues::read(std::span<const float> values, std::span<float>& space) {
  if (floats_ == 0) return point_at(kernels_, values);
  take(space);
  point_at(networks_, values);
  to_kernels_.execute(cpu_stream(), networks_, kernels_);
}

void ReorderedValues::write(std::span<float> values, std::span<float>& space) {
  if (floats_ == 0) return point_at(kernels_, values);
  take(space);
  point_at(networks_, values);
}

void ReorderedValues::finish_write() {
  if (floats_ > 0) to_network_.execute(cpu_stream(), kernels_, networks_);
}

void ReorderedValues::take(std::span<float>& space) {
  point_at(kernels_, space.first(floats_));
  space = space.subspan(floats_);
}

}  // namespace rubato::nn
