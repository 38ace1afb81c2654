// An optimizer: turns a mean gradient and a rate into new parameters, on any slice of the flat
// buffers.
//
// State that has one value per parameter lives in buffers handed in by the caller (who may put them
// in node-shared memory); state that is a few numbers is advanced once per update by
// begin_update(), on every rank alike. So the slices of one update may be done by different ranks,
// and all state can be named, saved and restored. Written for float and double.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rubato::optim {

// How one update steps: parameters change by learning_rate times the direction that the optimizer
// makes of gradient_scale * (gradient_clip * gradient + decay).
struct UpdateRate {
  double learning_rate = 0;
  double gradient_scale = 1;
  double gradient_clip = 1;  // at most 1: what a limit on the gradient's norm leaves of it
};

struct NamedScalar {
  std::string name;
  double value;
};

template <class T>
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // The per-parameter buffers that update_slice needs, in order, all zero at first: {"momentum"},
  // {"exp_avg", "exp_avg_sq"}, {"square_avg", "acc_delta"}.
  virtual std::vector<std::string> state_names() const = 0;

  // Once per update on every rank, before its slices. Throws std::invalid_argument for a rate that
  // is negative or not finite.
  virtual void begin_update(const UpdateRate& rate) = 0;
  // Updates one slice. All spans have the same size; `state` has one per state_names().
  virtual void update_slice(std::span<T> parameters, std::span<const T> gradient,
                            std::span<const std::span<T>> state) const = 0;

  // The few-numbers state.
  virtual std::vector<NamedScalar> scalars() const = 0;
  // Throws std::invalid_argument unless the names are those of scalars(), in any order.
  virtual void restore_scalars(const std::vector<NamedScalar>& scalars) = 0;
};

// Rate outside the momentum buffer; inside it; inside, and rescaled when the rate changes
// (sgd.hpp).
enum class MomentumForm { torch, v, v_corrected };
// By name; throws std::invalid_argument, listing the valid names.
MomentumForm momentum_form(const std::string& name);
std::vector<std::string> momentum_form_names();  // torch, v, v-corrected

// Where the local rate of LARS stands, and what it is made of (lars.hpp).
enum class LarsForm { paper, unscaled, clip, study };
// By name; throws std::invalid_argument, listing the valid names.
LarsForm lars_form(const std::string& name);
std::vector<std::string> lars_form_names();

// What makes an optimizer, as the command line says it.
struct OptimizerOptions {
  std::string name = "sgd";  // sgd, lars, adam, adamw, lamb, adadelta
  double momentum = 0;
  MomentumForm form = MomentumForm::torch;
  bool nesterov = false;
  double weight_decay = 0;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;  // adadelta and lamb want 1e-6, lars 0
  double rho = 0.9;
  LarsForm lars_form = LarsForm::paper;
  double trust = 0.001;  // lars: the share of |w| that a step of rate 1 may be long
};

// Throws std::invalid_argument: an unknown name (listing the valid ones), a value outside its
// range.
template <class T>
std::unique_ptr<Optimizer<T>> make_optimizer(const OptimizerOptions& options);
std::vector<std::string> optimizer_names();

}  // namespace rubato::optim
