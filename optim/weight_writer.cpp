#include "optim/weight_writer.hpp"

#include <utility>

namespace rubato::optim {

namespace {

// Where the times have those of computing in them, which differ by themselves, a copy must bring
// more than this part of them.
constexpr std::int64_t least_gain = 64;

}  // namespace

bool WeightWriter::allow_own(std::span<const float> shared, collectives::Slice mine) {
  if (others_read_ && !shared.empty() && shared.size_bytes() <= OwnWeights::most_bytes) {
    own_ = std::make_unique<OwnWeights>(shared, mine);
  }
  return own_ != nullptr;
}

void WeightWriter::computed(std::span<const float> with, double seconds, std::size_t minibatches) {
  if (!own_) return;
  has_mine_ = with.data() == own_->all().data();
  nanoseconds_ += static_cast<std::int64_t>(1e9 * seconds);
  minibatches_ = static_cast<std::int64_t>(minibatches);
}

void WeightWriter::begin() {
  const std::int64_t all = std::exchange(nanoseconds_, 0);
  // To begin and to change the way has its price. So the first update is not timed, but one more
  // made the same way. Where the rank has computed nothing there is nothing to compare.
  if (minibatches_ > 0 && !std::exchange(has_changed_way_, false)) {
    const std::int64_t took = all / minibatches_;
    if (took > 0) faster_.took(own_ && in_copy_ ? took + took / least_gain : took);
    const bool in_copy = faster_.choose() == 1;
    has_changed_way_ = own_ && in_copy != in_copy_;
    in_copy_ = in_copy;
  }
  if (own_ && in_copy_ && !has_mine_) own_->take_mine();
  has_mine_ = own_ && in_copy_;
}

std::span<const float> WeightWriter::own_weights() {
  if (!has_mine_) return {};
  const auto start = Clock::now();
  own_->take_others();
  add_since(start);
  return own_->all();
}

}  // namespace rubato::optim
