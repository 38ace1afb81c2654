// One loop; 28 bytes per float parameter and update, as Adam.
#include "optim/adadelta.hpp"

#include <cmath>
#include <cstddef>

#include "collectives/loop_prefetch.hpp"
#include "optim/named_scalars.hpp"
#include "optim/option_check.hpp"
#include "optim/update_check.hpp"

#ifndef __NO_MATH_ERRNO__
#error "compile with -fno-math-errno: square roots that set errno keep the loop scalar"
#endif

namespace rubato::optim {
namespace {

template <class T>
struct Constants {
  T learning_rate, gradient_scale, gradient_clip;
  T decay;
  T rho, one_minus_rho;
  T epsilon;
};

template <class T>
void update_piece(std::size_t size, T* __restrict w, const T* __restrict g, T* __restrict q,
                  T* __restrict u, Constants<T> k) {
  for (std::size_t i = 0; i < size; ++i) {
    const T direction = k.gradient_scale * (k.gradient_clip * g[i] + k.decay * w[i]);
    q[i] = k.rho * q[i] + k.one_minus_rho * (direction * direction);
    const T step = std::sqrt(u[i] + k.epsilon) / std::sqrt(q[i] + k.epsilon) * direction;
    u[i] = k.rho * u[i] + k.one_minus_rho * (step * step);
    w[i] -= k.learning_rate * step;
  }
}

}  // namespace

template <class T>
Adadelta<T>::Adadelta(const OptimizerOptions& options) : options_(options) {
  require_fraction("rho", options.rho);
  require_at_least_zero("weight decay", options.weight_decay);
  require_epsilon<T>(options.epsilon);
}

template <class T>
std::vector<std::string> Adadelta<T>::state_names() const {
  return {"square_avg", "acc_delta"};
}

template <class T>
void Adadelta<T>::begin_update(const UpdateRate& rate) {
  check_update_rate(rate);
  rate_ = rate;
}

template <class T>
void Adadelta<T>::update_slice(std::span<T> parameters, std::span<const T> gradient,
                               std::span<const std::span<T>> state) const {
  check_slices(parameters, gradient, state, 2);
  const auto rounded = [](double value) { return static_cast<T>(value); };
  const Constants<T> constants{rounded(rate_.learning_rate), rounded(rate_.gradient_scale),
                               rounded(rate_.gradient_clip), rounded(options_.weight_decay),
                               rounded(options_.rho),        rounded(1 - options_.rho),
                               rounded(options_.epsilon)};
  const auto take = [=](std::size_t, std::size_t size, auto*... piece) {
    update_piece(size, piece..., constants);
  };
  collectives::for_each_prefetched<T>(parameters.size(), take, parameters.data(), gradient.data(),
                                      state[0].data(), state[1].data());
}

template <class T>
std::vector<NamedScalar> Adadelta<T>::scalars() const {
  return {};
}

template <class T>
void Adadelta<T>::restore_scalars(const std::vector<NamedScalar>& scalars) {
  scalar_values("adadelta", {}, scalars);
}

template class Adadelta<float>;
template class Adadelta<double>;

}  // namespace rubato::optim
