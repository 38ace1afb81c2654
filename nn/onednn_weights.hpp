// A layer's weights in the orders that oneDNN's kernels like best, put there once per update.
//
// Kernels are made per minibatch size, but mostly like the same order at all sizes, so a copy is
// kept per order and not per size: of ResNet-50 each copy is 94 MB.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "nn/onednn.hpp"

namespace rubato::nn {

class OnednnWeights {
 public:
  // The weights in one of the orders.
  class Ordered {
   public:
    Ordered(const dnnl::memory::desc& plain, const dnnl::memory::desc& order);
    // For a kernel's arguments; stays where it is.
    const dnnl::memory& object() const noexcept { return ordered_; }

   private:
    friend class OnednnWeights;
    dnnl::memory plain_, ordered_;
    AlignedBuffer<float> buffer_;
    dnnl::reorder reorder_;
    std::uint64_t generation_ = 0;  // of the weights that it holds
  };

  // From now on; they stay where they are and unchanged until the next call.
  void use(std::span<const float> weights);

  // The place for the weights in this order; lives as long as this. `plain` is how use() has them.
  Ordered& in_order(const dnnl::memory::desc& plain, const dnnl::memory::desc& order);

  // Puts the weights in use there, unless they are there already.
  void bring_to(Ordered& ordered) const;

 private:
  std::span<const float> weights_;
  std::uint64_t generation_ = 0;
  std::vector<std::unique_ptr<Ordered>> orders_;
};

}  // namespace rubato::nn
