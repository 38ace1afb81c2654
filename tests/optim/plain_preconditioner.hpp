// A metric whose inverse scales are given, after as many updates as one likes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "optim/preconditioner.hpp"

namespace rubato::optim {

class PlainPreconditioner final : public Preconditioner<float> {
 public:
  std::uint64_t updates() const override { return updates_done; }
  bool is_settled() const override { return settled; }
  std::size_t state_index() const override { return 0; }
  void inverse_scales(std::span<const float> state, std::span<float> scales) const override {
    std::ranges::copy(state, scales.begin());
  }
  bool settled = true;
  std::uint64_t updates_done = 0;
};

}  // namespace rubato::optim
