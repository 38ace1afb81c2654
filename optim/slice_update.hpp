// The update itself, on the slice that this rank owns: parameters by the optimizer, running
// statistics by a moving average.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "optim/gradient_sync.hpp"
#include "optim/layerwise_update.hpp"
#include "optim/optimizer.hpp"
#include "optim/weight_writer.hpp"

namespace rubato::optim {

// What the update writes: one set per node, in memory that the node's ranks share. Every slice has
// one owner.
struct SharedState {
  std::span<float> parameters;  // total_elements: parameters, then running statistics
  std::vector<std::span<float>>
      optimizer_state;  // parameter_elements each, one per Optimizer::state_names()
};

// Either handed to sync.sum(), where the rate is known before the gradient is: then each block is
// updated as soon as it is summed. Or run() after the sum. The caller has called prepare(), and
// calls sync.barrier() before anyone reads.
//
// Running statistics move as if each of the update's minibatches had moved them by its weight a,
// all with the mean of their statistics: z <- (1-a)^m z + (1 - (1-a)^m) s, one step an update
// whatever the ranks.
class SliceUpdate final : public MeanUse {
 public:
  // `optimizer` and `sync` must outlive this. Collective for an optimizer that steps tensor by
  // tensor: such a one takes no part of a sum, but runs after it.
  SliceUpdate(Optimizer<float>& optimizer, GradientSync& sync, SharedState state);
  SliceUpdate(const SliceUpdate&) = delete;  // its parts refer to each other
  SliceUpdate& operator=(const SliceUpdate&) = delete;

  // The next update: its rate, and how many minibatches it has.
  void prepare(const UpdateRate& rate, std::size_t minibatches);
  // On every rank of the node: updates its slice from sync.mean_gradient(). Throws what
  // Optimizer::begin_update() does.
  void run();
  // Copies its slice of the mean gradient, of the parameters, into the last of the state's buffers,
  // one more than the optimizer has.
  void keep_mean() const;

  // The rank may compute with weights of its own, which this holds (weight_writer.hpp), if the
  // caller tells computed() before each update, and then computes with new_weights(). Whether it
  // may. Throws std::system_error where there is no memory for them.
  bool allow_own_weights();
  // What the rank has computed with since the update before: how many minibatches, and how long
  // they took together.
  void computed(std::span<const float> weights, double seconds, std::size_t minibatches);
  // After the barrier that the update ends with: what to compute with, the node's weights or a copy
  // of them.
  std::span<const float> new_weights();
  // Whether these are a copy.
  bool has_own_weights() const { return writer_.has_own(); }

  void begin() override;
  void take(std::size_t begin, std::span<const float> mean) override;

 private:
  std::span<const std::span<float>> my_buffers() const;  // the optimizer's
  void step_parameters(std::size_t begin, std::span<const float> mean);
  void move_statistics(std::size_t begin, std::span<const float> mean);

  Optimizer<float>& optimizer_;
  const GradientSync& sync_;
  SharedState state_;
  WeightWriter writer_;
  std::unique_ptr<LayerwiseUpdate> layerwise_;  // of an optimizer that steps tensor by tensor
  UpdateRate rate_;
  std::size_t minibatches_ = 0;
  std::vector<std::span<float>> state_of_piece_;
};

}  // namespace rubato::optim
