// Rate, schedule, optimizer. Which of them has a meaning with which schedule or optimizer is in the
// table (only_with), so that help, checks and records agree.
#include "app/learning_options.hpp"

#include <string>
#include <utility>

#include "optim/elastic_options.hpp"
#include "optim/learning_rate_schedule.hpp"
#include "optim/optimizer.hpp"
#include "optim/scaling_rules.hpp"

namespace rubato::app {
namespace {

std::vector<Option> rate_options() {
  const std::string group = "Learning rate";
  return {
      {.name = "lr",
       .kind = OptionKind::number,
       .default_value = "0.05",
       .value_name = "X",
       .group = group,
       .description = "the rate for updates of the reference batch, before schedule and rule"},
      {.name = "rule",
       .kind = OptionKind::choice,
       .default_value = "linear",
       .group = group,
       .description = "how the rate follows the batch size",
       .choices = optim::rule_names()},
      {.name = "reference-batch",
       .kind = OptionKind::number,
       .value_name = "N",
       .group = group,
       .description = "the batch size that --lr is meant for; default the first update's"},
      {.name = "legw-warmup",
       .kind = OptionKind::number,
       .value_name = "E",
       .group = group,
       .description = "epochs of warm-up that batches of the reference size need; S times as many"
                      " at S times the size",
       .only_with = {"rule", {"legw"}}},
      {.name = "clip-norm",
       .kind = OptionKind::number,
       .value_name = "X",
       .group = group,
       .description = "limit of the mean gradient's norm, as for the reference batch: the rule"
                      " scales the rate after it"},
      {.name = "shadow-rates",
       .kind = OptionKind::flag,
       .group = group,
       .description = "record in metrics.jsonl what every rule would have chosen",
       .may_change = true},
  };
}

std::vector<Option> noise_options() {
  const std::string group = "Gradient noise";
  return {
      {.name = "single-minibatch",
       .kind = OptionKind::choice,
       .default_value = "hold",
       .group = group,
       .description = "the noise scale in an update of one minibatch: hold it, or take the"
                      " difference of two such updates",
       .choices = optim::single_minibatch_names()},
      {.name = "noise-metric",
       .kind = OptionKind::choice,
       .default_value = "auto",
       .group = group,
       .description = "gradients as they are, or over the divisor of adam's steps; auto:"
                      " preconditioned for adamscale; both: as auto, the other for --shadow-rates",
       .choices = optim::noise_metric_names()},
      {.name = "tensor-noise",
       .kind = OptionKind::flag,
       .group = group,
       .description = "record in metrics.jsonl the noise scale of each tensor too"},
  };
}

std::vector<Option> schedule_options() {
  const std::string group = "Schedule of the learning rate";
  return {
      {.name = "schedule",
       .kind = OptionKind::choice,
       .default_value = "constant",
       .group = group,
       .description = "how the rate changes along the run, whatever the batch size",
       .choices = optim::schedule_names()},
      {.name = "schedule-by",
       .kind = OptionKind::choice,
       .default_value = "epoch",
       .group = group,
       .description = "the unit U of the lengths below; progress is the sum of the gains",
       .choices = optim::schedule_unit_names()},
      {.name = "warmup",
       .kind = OptionKind::number,
       .default_value = "0",
       .value_name = "U",
       .group = group,
       .description = "raise the rate linearly over the first U",
       .range = OptionRange::not_negative},
      {.name = "warmup-start",
       .kind = OptionKind::number,
       .value_name = "X",
       .group = group,
       .description = "the fraction of --lr that the warm-up starts from; default 0, or 1 where it"
                      " ends at a multiple",
       .range = OptionRange::not_negative},
      {.name = "warmup-multiplier",
       .kind = OptionKind::number,
       .default_value = "1",
       .value_name = "X",
       .group = group,
       .description = "the multiple of --lr that the warm-up ends at, where the schedule begins"},
      {.name = "gamma",
       .kind = OptionKind::number,
       .default_value = "0.1",
       .value_name = "X",
       .group = group,
       .description = "factor on the rate at each step or milestone",
       .only_with = {"schedule", {"step", "multistep"}}},
      {.name = "step-size",
       .kind = OptionKind::number,
       .default_value = "1",
       .value_name = "U",
       .group = group,
       .description = "from one step to the next",
       .only_with = {"schedule", {"step"}}},
      {.name = "milestones",
       .value_name = "U,U,...",
       .group = group,
       .description = "where the rate steps, from the start of the run, ascending",
       .only_with = {"schedule", {"multistep"}}},
      {.name = "span",
       .kind = OptionKind::number,
       .value_name = "U",
       .group = group,
       .description = "from the warm-up to the end of the descent; default what --epochs leaves",
       .only_with = {"schedule", {"cosine", "polynomial"}}},
      {.name = "power",
       .kind = OptionKind::number,
       .default_value = "2",
       .value_name = "X",
       .group = group,
       .description = "the power of what is left of the descent that the rate follows",
       .only_with = {"schedule", {"polynomial"}}},
      {.name = "polynomial-form",
       .kind = OptionKind::choice,
       .default_value = "plain",
       .group = group,
       .description = "study, study-ahead: warm-up and descent as two versions of a published study"
                      " ran them, in steps of an epoch and a little off",
       .choices = optim::polynomial_form_names(),
       .only_with = {"schedule", {"polynomial"}}},
      {.name = "end-lr",
       .kind = OptionKind::number,
       .default_value = "0",
       .value_name = "X",
       .group = group,
       .description = "the rate at the end of the descent",
       .range = OptionRange::not_negative,
       .only_with = {"schedule", {"cosine", "polynomial"}}},
  };
}

std::vector<Option> optimizer_options() {
  const std::string group = "Optimizer";
  const Condition sgd{"optimizer", {"sgd"}};
  const Condition lars{"optimizer", {"lars"}};
  const Condition with_momentum{"optimizer", {"sgd", "lars"}};
  const Condition adam{"optimizer", {"adam", "adamw"}};
  const Condition lamb{"optimizer", {"lamb"}};
  const Condition with_averages{"optimizer", {"adam", "adamw", "lamb"}};
  const Condition adadelta{"optimizer", {"adadelta"}};
  return {
      {.name = "optimizer",
       .kind = OptionKind::choice,
       .default_value = "sgd",
       .group = group,
       .description = "how a gradient changes the parameters",
       .choices = optim::optimizer_names()},
      {.name = "weight-decay",
       .kind = OptionKind::number,
       .default_value = "0",
       .value_name = "X",
       .group = group,
       .description = "adds X times the parameters to the gradient, for adamw and lamb to the step;"
                      " lars and lamb spare tensors of one dimension",
       .range = OptionRange::not_negative},
      {.name = "momentum",
       .kind = OptionKind::number,
       .default_value = "0.9",
       .value_name = "X",
       .group = group,
       .description = "the share of the last step's direction that goes into the next",
       .range = OptionRange::not_negative,
       .only_with = with_momentum},
      {.name = "momentum-form",
       .kind = OptionKind::choice,
       .default_value = "torch",
       .group = group,
       .description = "torch: the rate stays outside the momentum; v: inside;"
                      " v-corrected: inside, and rescaled when the rate changes",
       .choices = optim::momentum_form_names(),
       .only_with = sgd},
      {.name = "nesterov",
       .kind = OptionKind::flag,
       .group = group,
       .description = "look ahead along the momentum",
       .only_with = sgd},
      {.name = "lars-form",
       .kind = OptionKind::choice,
       .default_value = "paper",
       .group = group,
       .description = "paper: each tensor's rate inside the momentum; unscaled: outside; clip:"
                      " inside, and never above --lr; study: outside, with the momentum where the"
                      " weight decay belongs, as a published study has it",
       .choices = optim::lars_form_names(),
       .only_with = lars},
      {.name = "trust",
       .kind = OptionKind::number,
       .default_value = "0.001",
       .value_name = "X",
       .group = group,
       .description = "how long a tensor's step of rate 1 is, as a share of its weights' norm",
       .only_with = lars},
      {.name = "lars-epsilon",
       .kind = OptionKind::number,
       .default_value = "0",
       .value_name = "X",
       .group = group,
       .description = "added to the norms by which the weights' norm is divided",
       .range = OptionRange::not_negative,
       .only_with = lars},
      {.name = "beta1",
       .kind = OptionKind::number,
       .default_value = "0.9",
       .value_name = "X",
       .group = group,
       .description = "decay of the average gradient",
       .range = OptionRange::not_negative,
       .only_with = with_averages},
      {.name = "beta2",
       .kind = OptionKind::number,
       .default_value = "0.999",
       .value_name = "X",
       .group = group,
       .description = "decay of the average squared gradient",
       .range = OptionRange::not_negative,
       .only_with = with_averages},
      {.name = "epsilon",
       .kind = OptionKind::number,
       .default_value = "1e-8",
       .value_name = "X",
       .group = group,
       .description = "added to the divisor of the step",
       .only_with = adam},
      {.name = "lamb-epsilon",
       .kind = OptionKind::number,
       .default_value = "1e-6",
       .value_name = "X",
       .group = group,
       .description = "added to the divisor of the step",
       .only_with = lamb},
      {.name = "rho",
       .kind = OptionKind::number,
       .default_value = "0.9",
       .value_name = "X",
       .group = group,
       .description = "decay of the average squared gradient and of the average squared step",
       .range = OptionRange::not_negative,
       .only_with = adadelta},
      {.name = "adadelta-epsilon",
       .kind = OptionKind::number,
       .default_value = "1e-6",
       .value_name = "X",
       .group = group,
       .description = "added to both averages under their roots",
       .only_with = adadelta},
  };
}

}  // namespace

std::vector<Option> learning_options() {
  std::vector<Option> options = rate_options();
  for (Option& option : noise_options()) options.push_back(std::move(option));
  for (Option& option : schedule_options()) options.push_back(std::move(option));
  for (Option& option : optimizer_options()) options.push_back(std::move(option));
  return options;
}

}  // namespace rubato::app
