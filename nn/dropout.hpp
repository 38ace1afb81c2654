// Dropout: during training each element is zeroed with probability p, the others are scaled by
// 1/(1-p).
//
// Whether an element is kept is a pure function of (seed, epoch, minibatch, layer number, element):
// no state, so no rank and no history can change it. Element e uses word e of its stream
// (nn/philox.hpp) and is kept where the word is at least p * 2^32. Streams are distinct while epoch
// and minibatch stay below 2^32 each.
#pragma once

#include "nn/aligned_buffer.hpp"
#include "nn/layer.hpp"

namespace rubato::nn {

class Dropout final : public Layer {
 public:
  // probability of dropping, in (0, 1); layer_number distinguishes the dropout layers of one model.
  Dropout(Shape input, double probability, std::uint32_t layer_number);

  void forward(const ForwardPass& pass) override;
  void backward(const BackwardPass& pass) override;
  void evaluate(const ForwardPass& pass) override;

 private:
  double probability_;
  float scale_;
  std::uint32_t layer_number_;
  AlignedBuffer<float> factors_;  // 0 or the scale, per element
};

}  // namespace rubato::nn
