// A block may hold parameters, running statistics, or the end of the ones and the beginning of the
// others.
#include "optim/slice_update.hpp"

#include <algorithm>
#include <utility>

#include "optim/flush_denormals.hpp"
#include "optim/norm_block.hpp"

namespace rubato::optim {

namespace {

// By squaring, so that the bits do not depend on a mathematical library.
double power(double base, std::size_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent >>= 1U, base *= base) {
    if ((exponent & 1U) != 0) result *= base;
  }
  return result;
}

}  // namespace

SliceUpdate::SliceUpdate(Optimizer<float>& optimizer, GradientSync& sync, SharedState state)
    : optimizer_(optimizer),
      sync_(sync),
      state_(std::move(state)),
      writer_(/*others_read=*/sync.topology().node().size() > 1),
      state_of_piece_(optimizer.state_names().size()) {
  const auto* layerwise = dynamic_cast<const LayerwiseOptimizer<float>*>(&optimizer);
  if (layerwise == nullptr) return;
  layerwise_ = std::make_unique<LayerwiseUpdate>(
      *layerwise, sync, writer_, state_.parameters,
      std::vector<std::span<float>>(my_buffers().begin(), my_buffers().end()));
}

void SliceUpdate::prepare(const UpdateRate& rate, std::size_t minibatches) {
  rate_ = rate;
  minibatches_ = minibatches;
}

// The last block first: its mean is in cache still.
void SliceUpdate::run() {
  begin();
  const collectives::Slice slice = sync_.my_slice();
  const std::span<const float> mean = sync_.mean_gradient().subspan(slice.begin, slice.size);
  if (!layerwise_) {
    for (std::size_t end = slice.size, size = 0; end > 0; end -= size) {
      size = (end - 1) % norm_block_elements + 1;
      take(slice.begin + end - size, mean.subspan(end - size, size));
    }
    return;
  }
  const FlushDenormals flush;
  layerwise_->run();
  collectives::for_each_block(slice, [&](std::size_t begin, std::size_t size) {
    move_statistics(begin, mean.subspan(begin - slice.begin, size));
  });
}

void SliceUpdate::keep_mean() const {
  const collectives::Slice slice = sync_.my_slice();
  const std::size_t end = std::min(slice.end(), sync_.parameter_elements());
  if (slice.begin >= end) return;
  std::ranges::copy(sync_.mean_gradient().subspan(slice.begin, end - slice.begin),
                    state_.optimizer_state.back().subspan(slice.begin).begin());
}

bool SliceUpdate::allow_own_weights() {
  // Layerwise directions are added to the node's weights in place.
  return !layerwise_ && writer_.allow_own(state_.parameters, sync_.my_slice());
}

void SliceUpdate::computed(std::span<const float> weights, double seconds,
                           std::size_t minibatches) {
  writer_.computed(weights, seconds, minibatches);
}

std::span<const float> SliceUpdate::new_weights() {
  const std::span<const float> own = writer_.own_weights();
  return own.empty() ? state_.parameters : own;
}

void SliceUpdate::begin() {
  optimizer_.begin_update(rate_);
  writer_.begin();
}

void SliceUpdate::take(std::size_t begin, std::span<const float> mean) {
  const FlushDenormals flush;
  const std::size_t end = begin + mean.size();
  const std::size_t parameters = sync_.parameter_elements();
  if (begin < parameters) step_parameters(begin, mean.first(std::min(end, parameters) - begin));
  if (end > parameters) move_statistics(begin, mean);
}

std::span<const std::span<float>> SliceUpdate::my_buffers() const {
  return std::span(state_.optimizer_state).first(state_of_piece_.size());
}

void SliceUpdate::step_parameters(std::size_t begin, std::span<const float> mean) {
  const auto update = [&](std::size_t from, std::span<float> parameters) {
    std::ranges::transform(my_buffers(), state_of_piece_.begin(), [&](std::span<float> all) {
      return all.subspan(begin + from, parameters.size());
    });
    optimizer_.update_slice(parameters, mean.subspan(from, parameters.size()), state_of_piece_);
  };
  writer_.write(state_.parameters.subspan(begin, mean.size()), update);
}

void SliceUpdate::move_statistics(std::size_t begin, std::span<const float> mean) {
  for (const TensorRange& tensor : sync_.tensors()) {
    if (tensor.is_parameter) continue;
    const double kept = power(1 - tensor.statistic_weight, minibatches_);
    const std::size_t first = std::max(tensor.begin, begin);
    const std::size_t end = std::min(tensor.begin + tensor.size, begin + mean.size());
    if (first >= end) continue;
    const auto move = [&](std::size_t from, std::span<float> piece) {
      const std::span<const float> mean_here = mean.subspan(first - begin + from);
      for (std::size_t i = 0; i < piece.size(); ++i) {
        piece[i] = static_cast<float>(kept * piece[i] + (1 - kept) * mean_here[i]);
      }
    };
    writer_.write(state_.parameters.subspan(first, end - first), move);
  }
}

}  // namespace rubato::optim
