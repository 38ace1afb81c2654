#include "optim/layerwise.hpp"

#include "optim/squared_norm.hpp"
#include "optim/update_check.hpp"

namespace rubato::optim {

template <class T>
void LayerwiseOptimizer<T>::update_slice(std::span<T> parameters, std::span<const T> gradient,
                                         std::span<const std::span<T>> state) const {
  check_slices(parameters, gradient, state, this->state_names().size());
  const TensorPart<T> whole{parameters, gradient, state};
  TensorFacts facts;
  facts.weight_square = squared_norm(std::span<const T>(parameters));
  facts.gradient_square = squared_norm(gradient);
  if (makes_directions()) facts.direction_square = make_direction(whole, facts.is_vector);
  step(whole, facts);
}

template class LayerwiseOptimizer<float>;
template class LayerwiseOptimizer<double>;

}  // namespace rubato::optim
