// One loop for both: Adam has `keep` 1, AdamW has `decay` 0. The corrections by t are made in
// double and rounded once, the one under the root as a factor, which leaves one root and one
// division per element. 28 bytes per float parameter and update.
#include "optim/adam.hpp"

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
  T keep;            // AdamW: 1 - lr weight_decay
  T decay;           // Adam: weight_decay
  T gradient_scale;  // c
  T gradient_clip;   // k
  T beta1, one_minus_beta1;
  T beta2, one_minus_beta2;
  T step_size;        // lr / (1 - beta1^t)
  T root_correction;  // 1 / sqrt(1 - beta2^t)
  T epsilon;
};

template <bool is_clipped, class T>
void update_piece(std::size_t size, T* __restrict w, const T* __restrict g, T* __restrict a,
                  T* __restrict q, Constants<T> k) {
  for (std::size_t i = 0; i < size; ++i) {
    const T gradient = is_clipped ? k.gradient_clip * g[i] : g[i];
    const T direction = k.gradient_scale * (gradient + k.decay * w[i]);
    a[i] = k.beta1 * a[i] + k.one_minus_beta1 * direction;
    q[i] = k.beta2 * q[i] + k.one_minus_beta2 * (direction * direction);
    const T denominator = std::sqrt(q[i]) * k.root_correction + k.epsilon;
    w[i] = k.keep * w[i] - k.step_size * (a[i] / denominator);
  }
}

template <bool is_clipped, class T>
void update(std::size_t size, T* w, const T* g, T* a, T* q, Constants<T> k) {
  const auto take = [=](std::size_t, std::size_t elements, auto*... piece) {
    update_piece<is_clipped>(elements, piece..., k);
  };
  collectives::for_each_prefetched<T>(size, take, w, g, a, q);
}

constexpr double updates_until_settled = 5;

// The smallest number above 0 has a root whose inverse is finite, however small epsilon is.
template <class T>
void invert(std::size_t size, const T* __restrict q, T* __restrict scales, T root_correction,
            T epsilon) {
  for (std::size_t i = 0; i < size; ++i) {
    const T one_if_known = q[i] > 0 ? T{1} : T{0};
    scales[i] = one_if_known / (std::sqrt(q[i]) * root_correction + epsilon);
  }
}

template <class T>
Constants<T> make_constants(const OptimizerOptions& options, AdamDecay decay,
                            const UpdateRate& rate, double first_correction,
                            double root_correction) {
  const bool is_decoupled = decay == AdamDecay::decoupled;
  const auto rounded = [](double value) { return static_cast<T>(value); };
  return {rounded(is_decoupled ? 1 - rate.learning_rate * options.weight_decay : 1),
          rounded(is_decoupled ? 0 : options.weight_decay),
          rounded(rate.gradient_scale),
          rounded(rate.gradient_clip),
          rounded(options.beta1),
          rounded(1 - options.beta1),
          rounded(options.beta2),
          rounded(1 - options.beta2),
          rounded(rate.learning_rate / first_correction),
          rounded(root_correction),
          rounded(options.epsilon)};
}

}  // namespace

template <class T>
Adam<T>::Adam(const OptimizerOptions& options, AdamDecay decay) : options_(options), decay_(decay) {
  require_fraction("beta1", options.beta1);
  require_fraction("beta2", options.beta2);
  require_at_least_zero("weight decay", options.weight_decay);
  require_epsilon<T>(options.epsilon);
}

template <class T>
std::vector<std::string> Adam<T>::state_names() const {
  return {"exp_avg", "exp_avg_sq"};
}

template <class T>
void Adam<T>::begin_update(const UpdateRate& rate) {
  check_update_rate(rate);
  rate_ = rate;
  set_step(step_ + 1);
}

template <class T>
void Adam<T>::set_step(double step) {
  step_ = step;
  first_correction_ = 1 - std::pow(options_.beta1, step);
  root_correction_ = 1 / std::sqrt(1 - std::pow(options_.beta2, step));
}

template <class T>
void Adam<T>::update_slice(std::span<T> parameters, std::span<const T> gradient,
                           std::span<const std::span<T>> state) const {
  check_slices(parameters, gradient, state, 2);
  const auto loop = rate_.gradient_clip < 1 ? update<true, T> : update<false, T>;
  loop(parameters.size(), parameters.data(), gradient.data(), state[0].data(), state[1].data(),
       make_constants<T>(options_, decay_, rate_, first_correction_, root_correction_));
}

template <class T>
std::vector<NamedScalar> Adam<T>::scalars() const {
  return {{"step", step_}};
}

template <class T>
void Adam<T>::restore_scalars(const std::vector<NamedScalar>& scalars) {
  const double step = scalar_values("adam", {"step"}, scalars)[0];
  require_value(step >= 0 && step == std::floor(step), "state of adam: scalar 'step'", step,
                "a count of updates");
  set_step(step);
}

template <class T>
std::uint64_t Adam<T>::updates() const {
  return static_cast<std::uint64_t>(step_);
}

template <class T>
bool Adam<T>::is_settled() const {
  return step_ >= updates_until_settled;
}

template <class T>
std::size_t Adam<T>::state_index() const {
  return 1;
}

template <class T>
void Adam<T>::inverse_scales(std::span<const T> squares, std::span<T> scales) const {
  invert(scales.size(), squares.data(), scales.data(), static_cast<T>(root_correction_),
         static_cast<T>(options_.epsilon));
}

template class Adam<float>;
template class Adam<double>;

}  // namespace rubato::optim
