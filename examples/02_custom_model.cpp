// Brings a model of one's own: a linear classifier with the multi-class hinge loss (Crammer and
// Singer 2001), whose loss and gradient are written out by hand. Everything else (order-free sums,
// ranks, rules) works as for the built-in models.
//
//   mpirun -q -n 3 example_02_custom_model
#include <algorithm>
#include <iostream>
#include <memory>

#include "collectives/session.hpp"
#include "data/data_source.hpp"
#include "nn/model.hpp"
#include "optim/scaling_rules.hpp"
#include "runtime/evaluator.hpp"
#include "runtime/train_step.hpp"

using namespace rubato;

// loss = max(0, 1 + the best wrong score - the right score), scores = W x
class HingeClassifier final : public nn::Model {
 public:
  HingeClassifier(std::size_t features, std::size_t classes)
      : features_(features), classes_(classes), scores_(classes) {
    layout_.add_parameter("weight", {classes, features});
  }
  const nn::Layout& layout() const override { return layout_; }
  void initialize(std::span<float> parameters, std::uint64_t /*seed*/) const override {
    std::ranges::fill(parameters, 0.0F);
  }
  void use_parameters(std::span<const float> parameters) override { weights_ = parameters; }

  nn::MinibatchLoss gradient(const nn::MinibatchView& minibatch,
                             std::span<float> gradient) override {
    std::ranges::fill(gradient, 0.0F);
    return sum_losses(minibatch.inputs, minibatch.labels, gradient.data(), {});
  }
  nn::MinibatchLoss evaluate(std::span<const float> inputs, std::span<const std::int32_t> labels,
                             std::span<nn::SampleLoss> each) override {
    return sum_losses(inputs, labels, nullptr, each);
  }

 private:
  nn::MinibatchLoss sum_losses(std::span<const float> inputs, std::span<const std::int32_t> labels,
                               float* gradient, std::span<nn::SampleLoss> each) {
    nn::MinibatchLoss sum;
    for (std::size_t sample = 0; sample < labels.size(); ++sample) {
      const float* x = inputs.data() + sample * features_;
      const auto right = static_cast<std::size_t>(labels[sample]);
      for (std::size_t k = 0; k < classes_; ++k) {
        scores_[k] = 0;
        for (std::size_t i = 0; i < features_; ++i)
          scores_[k] += weights_[k * features_ + i] * x[i];
      }
      std::size_t rival = right == 0 ? 1 : 0;
      for (std::size_t k = 0; k < classes_; ++k) {
        if (k != right && scores_[k] > scores_[rival]) rival = k;
      }
      const float loss = 1 + scores_[rival] - scores_[right];
      const bool is_correct = scores_[rival] < scores_[right];
      if (is_correct) ++sum.correct;
      if (!each.empty()) each[sample] = {std::max(0.0, static_cast<double>(loss)), is_correct};
      if (loss <= 0) continue;
      sum.loss_sum += loss;
      if (gradient == nullptr) continue;
      for (std::size_t i = 0; i < features_; ++i) {
        gradient[rival * features_ + i] += x[i];
        gradient[right * features_ + i] -= x[i];
      }
    }
    return sum;
  }

  nn::Layout layout_;
  std::size_t features_;
  std::size_t classes_;
  std::vector<float> scores_;
  std::span<const float> weights_;
};

int train(const collectives::Communicator& world) {
  const collectives::Topology topology(world);
  const data::DataSource digits = data::open_data({.spec = "digits"});
  const data::TracePlan plan(data::BatchTrace::constant(96),
                             {.samples = digits.train->size(), .minibatch = 16, .epochs = 5});

  auto sgd = optim::make_optimizer<float>({.name = "sgd"});
  runtime::Replica replica(topology,
                           std::make_unique<HingeClassifier>(digits.train->shape().size(), 10),
                           sgd->state_names(), 1);
  optim::ScheduleOptions schedule;
  schedule.base_rate = 0.02;
  optim::AdaScaleOptimizer optimizer(std::move(sgd), optim::LearningRateSchedule(schedule),
                                     {.reference_batch = 32});
  const auto sync = runtime::make_gradient_sync(topology, replica.layout());
  data::Prefetcher loader(digits.train, data::OrderKind::torch, 1, 16);
  runtime::TrainStep step(topology, replica, loader, *sync, optimizer,
                          {.epoch_samples = plan.epoch_samples()});

  const runtime::Evaluator evaluator(digits.test);
  for (auto update = plan.next({}); update; update = plan.next(update->end)) {
    const runtime::StepReport report = step.run(*update, nullptr);
    if (!update->ends_epoch) continue;
    const auto test = evaluator.evaluate(world, replica.model());
    if (world.rank() == 0) {
      std::cout << "epoch " << report.epoch + 1 << "  loss " << report.loss << "  gain "
                << report.gain << "  test accuracy " << test.accuracy << '\n';
    }
  }
  return 0;
}

int main(int argc, char** argv) { return collectives::run_session(argc, argv, train); }
