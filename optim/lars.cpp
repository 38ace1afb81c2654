// One loop for all forms, which differ in two factors: of what enters the momentum, and of what
// leaves it.
#include "optim/lars.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "optim/named_scalars.hpp"
#include "optim/option_check.hpp"
#include "optim/squared_norm.hpp"
#include "optim/update_check.hpp"

namespace rubato::optim {
namespace {

// u <- momentum u + (gradient g + decay w),   w <- w - step u
template <class T>
struct Factors {
  T momentum;
  T gradient;
  T decay;
  T step;
};

template <class T>
Factors<T> factors(const OptimizerOptions& options, const UpdateRate& rate,
                   const TensorFacts& tensor) {
  const LocalRate local = lars_rate(options, tensor, rate.gradient_clip);
  const bool has_decay = !tensor.is_vector || options.lars_form == LarsForm::study;
  double in = rate.gradient_scale;
  double out = rate.learning_rate;
  switch (options.lars_form) {
    case LarsForm::paper:
      in *= out * local.value;
      out = 1;
      break;
    case LarsForm::unscaled:
    case LarsForm::study:
      out *= local.value;
      break;
    case LarsForm::clip:
      if (!local.is_plain && out * in > local.value) in = local.value / out;
      break;
  }
  return {static_cast<T>(options.momentum), static_cast<T>(in * rate.gradient_clip),
          static_cast<T>(has_decay ? in * options.weight_decay : 0), static_cast<T>(out)};
}

template <bool has_momentum, class T>
double step(std::size_t size, T* w, const T* g, T* u, Factors<T> k) {
  // Of a group of lanes, or of one element.
  const auto stepped = [=]<class Group>(std::size_t i, Group weights) {
    Group way = k.gradient * load_lanes<Group>(g + i) + k.decay * weights;
    if constexpr (has_momentum) {
      way = k.momentum * load_lanes<Group>(u + i) + way;
      store_lanes(way, u + i);
    }
    weights -= k.step * way;
    store_lanes(weights, w + i);
    return weights;
  };
  SquareSum squares;
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    prefetch_row_after(w + i);
    prefetch_row_after(g + i);
    if constexpr (has_momentum) prefetch_row_after(u + i);
    for_each_group([&](std::size_t group) {
      const std::size_t j = i + group * lane_group;
      squares.add_group(group, stepped(j, load_lanes<Lanes<T>>(w + j)));
    });
  }
  for (; i < size; ++i) squares.add_one(i, stepped(i, w[i]));
  return squares.value();
}

}  // namespace

LocalRate lars_rate(const OptimizerOptions& options, const TensorFacts& tensor,
                    double gradient_clip) {
  const bool is_study = options.lars_form == LarsForm::study;
  const double weights = std::sqrt(tensor.weight_square);
  const double gradient = gradient_clip * std::sqrt(tensor.gradient_square);
  if ((tensor.is_vector && !is_study) || weights == 0 || gradient == 0) return {};
  const double share = is_study ? options.momentum : options.weight_decay;
  return {false, options.trust * weights / (gradient + share * weights + options.epsilon)};
}

template <class T>
Lars<T>::Lars(const OptimizerOptions& options) : options_(options) {
  require_above_zero("trust", options.trust);
  require_fraction("momentum", options.momentum);
  require_at_least_zero("weight decay", options.weight_decay);
  require_at_least_zero("epsilon", options.epsilon);
}

template <class T>
std::vector<std::string> Lars<T>::state_names() const {
  if (options_.momentum == 0) return {};
  return {"momentum"};
}

template <class T>
void Lars<T>::begin_update(const UpdateRate& rate) {
  check_update_rate(rate);
  rate_ = rate;
}

template <class T>
double Lars<T>::step(const TensorPart<T>& part, const TensorFacts& tensor) const {
  const Factors<T> k = factors<T>(options_, rate_, tensor);
  T* const w = part.parameters.data();
  const T* const g = part.gradient.data();
  if (part.state.empty()) {
    return optim::step<false, T>(part.parameters.size(), w, g, nullptr, k);
  }
  return optim::step<true>(part.parameters.size(), w, g, part.state[0].data(), k);
}

template <class T>
void Lars<T>::restore_scalars(const std::vector<NamedScalar>& scalars) {
  scalar_values("lars", {}, scalars);
}

template class Lars<float>;
template class Lars<double>;

}  // namespace rubato::optim
