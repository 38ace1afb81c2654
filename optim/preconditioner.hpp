// What an optimizer that scales each element of its step says of these scales: in the metric P in
// which it steps, gradients are measured as |g / P|.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rubato::optim {

template <class T>
class Preconditioner {
 public:
  virtual ~Preconditioner() = default;

  // Updates made so far.
  virtual std::uint64_t updates() const = 0;
  // Whether they are enough for the scales to mean something.
  virtual bool is_settled() const = 0;
  // Which of the optimizer's state buffers they are made of.
  virtual std::size_t state_index() const = 0;
  // 1 / P as of the last update, for a part of that buffer: finite, and 0 for an element that has
  // had no gradient yet, whose scale is unknown.
  virtual void inverse_scales(std::span<const T> state, std::span<T> scales) const = 0;
};

}  // namespace rubato::optim
