// The update of this rank's slice by an optimizer that steps tensor by tensor (layerwise.hpp).
//
// Norms are made where the elements are in hand anyway: the mean gradient's when the sum makes it,
// the weights' when the update before writes them. So all of them are known when an update begins,
// but for that of a direction, which is made first. A tensor that lies in this slice alone then
// steps at once, its elements still in a cache if it is no larger than that; one that others have a
// part of steps when all have passed a barrier.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "optim/gradient_sync.hpp"
#include "optim/layerwise.hpp"
#include "optim/tensor_norms.hpp"
#include "optim/weight_writer.hpp"

namespace rubato::optim {

class LayerwiseUpdate {
 public:
  // Collective; from here on the sync's mean gradient is measured. `parameters` and the optimizer's
  // `state` lie in memory that the node shares; both they and what is referred to must outlive
  // this.
  LayerwiseUpdate(const LayerwiseOptimizer<float>& optimizer, GradientSync& sync,
                  WeightWriter& writer, std::span<float> parameters,
                  std::vector<std::span<float>> state);

  // On every rank of the node, after the sum and Optimizer::begin_update(): the parameters of its
  // slice. The first time it also measures the weights, in a pass of its own: they may be a
  // checkpoint's.
  void run();

 private:
  struct Part {  // what this slice has of a tensor
    std::size_t tensor;
    std::size_t first_segment;
    std::size_t end_segment;
    bool is_whole;
  };
  std::vector<Part> parts_of_my_slice() const;
  void measure_weights();
  void make_direction(const Part& part);
  void step(const Part& part);
  TensorPart<float> elements_of(std::size_t segment);

  const LayerwiseOptimizer<float>& optimizer_;
  GradientSync& sync_;
  WeightWriter& writer_;
  std::span<float> parameters_;
  std::vector<std::span<float>> state_;
  std::shared_ptr<TensorNorms> norms_;  // the sync knows them too
  std::vector<Part> parts_;
  std::vector<std::span<float>> state_of_segment_;
  bool has_weights_ = false;
};

}  // namespace rubato::optim
