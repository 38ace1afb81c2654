// Optimizers and their forms by name.
#include "optim/optimizer.hpp"

#include "optim/adadelta.hpp"
#include "optim/adam.hpp"
#include "optim/lamb.hpp"
#include "optim/lars.hpp"
#include "optim/option_check.hpp"
#include "optim/sgd.hpp"

namespace rubato::optim {

std::vector<std::string> momentum_form_names() { return {"torch", "v", "v-corrected"}; }

MomentumForm momentum_form(const std::string& name) {
  if (name == "torch") return MomentumForm::torch;
  if (name == "v") return MomentumForm::v;
  if (name == "v-corrected") return MomentumForm::v_corrected;
  throw_unknown_name("momentum form", name, momentum_form_names());
}

std::vector<std::string> lars_form_names() { return {"paper", "unscaled", "clip", "study"}; }

LarsForm lars_form(const std::string& name) {
  if (name == "paper") return LarsForm::paper;
  if (name == "unscaled") return LarsForm::unscaled;
  if (name == "clip") return LarsForm::clip;
  if (name == "study") return LarsForm::study;
  throw_unknown_name("form of lars", name, lars_form_names());
}

std::vector<std::string> optimizer_names() {
  return {"sgd", "lars", "adam", "adamw", "lamb", "adadelta"};
}

template <class T>
std::unique_ptr<Optimizer<T>> make_optimizer(const OptimizerOptions& options) {
  if (options.name == "sgd") return std::make_unique<Sgd<T>>(options);
  if (options.name == "lars") return std::make_unique<Lars<T>>(options);
  if (options.name == "adam") return std::make_unique<Adam<T>>(options, AdamDecay::in_gradient);
  if (options.name == "adamw") return std::make_unique<Adam<T>>(options, AdamDecay::decoupled);
  if (options.name == "lamb") return std::make_unique<Lamb<T>>(options);
  if (options.name == "adadelta") return std::make_unique<Adadelta<T>>(options);
  throw_unknown_name("optimizer", options.name, optimizer_names());
}

template std::unique_ptr<Optimizer<float>> make_optimizer(const OptimizerOptions& options);
template std::unique_ptr<Optimizer<double>> make_optimizer(const OptimizerOptions& options);

}  // namespace rubato::optim
