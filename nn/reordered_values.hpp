// Values that the network has in one order and oneDNN's kernels in another. Where the orders are
// the same, nothing is copied.
#pragma once

#include <cstddef>
#include <span>

#include "nn/onednn.hpp"

namespace rubato::nn {

class ReorderedValues {
 public:
  ReorderedValues(const dnnl::memory::desc& networks, const dnnl::memory::desc& kernels);

  // For a kernel's arguments.
  const dnnl::memory& object() const noexcept { return kernels_; }
  // What read() and write() take from the front of their space, until the kernel has run; whole
  // cache lines.
  std::size_t floats() const noexcept { return floats_; }

  // Before a kernel that reads them. `space` is then what is left of it.
  void read(std::span<const float> values, std::span<float>& space);
  // Before a kernel that writes them, and after it.
  void write(std::span<float> values, std::span<float>& space);
  void finish_write();

 private:
  void take(std::span<float>& space);

  dnnl::memory networks_, kernels_;
  std::size_t floats_ = 0;
  dnnl::reorder to_kernels_, to_network_;  // empty where there is nothing to do
};

}  // namespace rubato::nn
