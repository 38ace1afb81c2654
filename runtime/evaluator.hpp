// Loss and accuracy over a test set, shared out over all ranks; the same bits for any number of
// them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "collectives/communicator.hpp"
#include "data/dataset.hpp"
#include "data/trace_plan.hpp"
#include "nn/model.hpp"
#include "runtime/step_report.hpp"

namespace rubato::runtime {

class Evaluator {
 public:
  struct Result {
    double loss = 0;      // mean
    double accuracy = 0;  // in [0, 1]
  };

  // `every`: samples; see is_due().
  explicit Evaluator(std::shared_ptr<const data::Dataset> test_set,
                     std::optional<std::uint64_t> every = {});

  // Whether there is to be an evaluation after this update: where an epoch ends, and whenever the
  // run has used another `every` samples.
  bool is_due(const data::PlannedUpdate& update) const;

  // Of the samples that bear one label.
  struct ClassResult {
    std::uint64_t samples = 0;
    std::uint64_t correct = 0;
    double loss_sum = 0;  // added in file order
  };
  struct DetailedResult {
    Result all;  // the same bits as evaluate() gives
    std::uint64_t correct = 0;
    std::vector<ClassResult> classes;  // by label
  };

  // Collective. Batches of 32 samples in file order, batch i on rank i mod R; their sums are added
  // in order of i. `moving` is called before each batch, and with `waits` before ranks wait for
  // each other.
  using Moving = std::function<void(bool waits)>;
  Result evaluate(const collectives::Communicator& communicator, nn::Model& model,
                  const Moving& moving = {}) const;
  // Collective. The same, and what became of each class; sends 24 bytes a sample.
  DetailedResult evaluate_classes(const collectives::Communicator& communicator,
                                  nn::Model& model) const;
  // evaluate() as a report; what it says of the position is the caller's to fill in.
  EvaluationReport report(const collectives::Communicator& communicator, nn::Model& model,
                          const Moving& moving = {}) const;

 private:
  using Take = std::function<void(std::uint64_t batch, std::span<const float> inputs,
                                  std::span<const std::int32_t> labels)>;
  std::uint64_t batches() const;
  // Hands over this rank's batches.
  void read_share(const collectives::Communicator& communicator, const Moving& moving,
                  const Take& take) const;

  std::shared_ptr<const data::Dataset> test_set_;
  std::optional<std::uint64_t> every_;
};
}  // namespace rubato::runtime
