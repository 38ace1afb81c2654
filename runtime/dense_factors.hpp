// Gradients of dense layers between hosts: the model's factors in the terms of the gradient sync.
#pragma once

#include "nn/model.hpp"
#include "optim/gradient_sync.hpp"

namespace rubato::runtime {

// Collective, before the sync's first begin(): gradients of the model's dense layers may travel as
// factors. The model must outlive the sync's last sum.
void allow_factors(nn::Model& model, optim::GradientSync& sync);

}  // namespace rubato::runtime
