// Two loops that the compiler turns into vector code, over pieces that stay in the first cache
// while they are measured.
#include "optim/lamb.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "collectives/loop_prefetch.hpp"
#include "optim/named_scalars.hpp"
#include "optim/option_check.hpp"
#include "optim/squared_norm.hpp"
#include "optim/update_check.hpp"

#ifndef __NO_MATH_ERRNO__
#error "compile with -fno-math-errno: square roots that set errno keep the loops scalar"
#endif

namespace rubato::optim {
namespace {

constexpr std::size_t piece_elements = 64 * lanes;

template <class T>
struct Constants {
  T gradient_factor;  // c k
  T beta1, one_minus_beta1;
  T beta2, one_minus_beta2;
  T first_correction;  // 1 / (1 - beta1^t)
  T root_correction;   // 1 / sqrt(1 - beta2^t)
  T epsilon;
  T decay;
};

template <class T>
T direction(T w, T a, T q, const Constants<T>& k) {
  return k.first_correction * a / (std::sqrt(q) * k.root_correction + k.epsilon) + k.decay * w;
}

template <class T>
void average(std::size_t size, const T* __restrict w, const T* __restrict g, T* __restrict a,
             T* __restrict q, T* __restrict u, Constants<T> k) {
  for (std::size_t i = 0; i < size; ++i) {
    const T gradient = k.gradient_factor * g[i];
    a[i] = k.beta1 * a[i] + k.one_minus_beta1 * gradient;
    q[i] = k.beta2 * q[i] + k.one_minus_beta2 * (gradient * gradient);
    u[i] = direction(w[i], a[i], q[i], k);
  }
}

template <class T>
void step_along(std::size_t size, T* __restrict w, const T* __restrict a, const T* __restrict q,
                T rate, Constants<T> k) {
  for (std::size_t i = 0; i < size; ++i) w[i] -= rate * direction(w[i], a[i], q[i], k);
}

// Calls take(begin, size) for one piece after the other.
template <class Take>
void for_each_piece(std::size_t size, const Take& take) {
  for (std::size_t begin = 0; begin < size; begin += piece_elements) {
    take(begin, std::min(piece_elements, size - begin));
  }
}

template <class T>
Constants<T> make_constants(const OptimizerOptions& options, const UpdateRate& rate,
                            const LambCorrections& corrections, bool is_vector) {
  const auto rounded = [](double value) { return static_cast<T>(value); };
  return {rounded(rate.gradient_scale * rate.gradient_clip),
          rounded(options.beta1),
          rounded(1 - options.beta1),
          rounded(options.beta2),
          rounded(1 - options.beta2),
          rounded(corrections.first),
          rounded(corrections.root),
          rounded(options.epsilon),
          rounded(is_vector ? 0 : options.weight_decay)};
}

double ratio_of(const TensorFacts& tensor) {
  const bool is_plain =
      tensor.is_vector || tensor.weight_square == 0 || tensor.direction_square == 0;
  return is_plain ? 1 : std::sqrt(tensor.weight_square) / std::sqrt(tensor.direction_square);
}

}  // namespace

template <class T>
Lamb<T>::Lamb(const OptimizerOptions& options) : options_(options) {
  require_fraction("beta1", options.beta1);
  require_fraction("beta2", options.beta2);
  require_at_least_zero("weight decay", options.weight_decay);
  require_epsilon<T>(options.epsilon);
}

template <class T>
std::vector<std::string> Lamb<T>::state_names() const {
  return {"exp_avg", "exp_avg_sq"};
}

template <class T>
void Lamb<T>::begin_update(const UpdateRate& rate) {
  check_update_rate(rate);
  rate_ = rate;
  step_ += 1;
  corrections_ = {1 / (1 - std::pow(options_.beta1, step_)),
                  1 / std::sqrt(1 - std::pow(options_.beta2, step_))};
}

template <class T>
double Lamb<T>::make_direction(const TensorPart<T>& part, bool is_vector) const {
  const Constants<T> k = make_constants<T>(options_, rate_, corrections_, is_vector);
  std::array<T, piece_elements> u;
  SquareSum squares;
  for_each_piece(part.parameters.size(), [&](std::size_t begin, std::size_t size) {
    const auto take = [&](std::size_t from, std::size_t elements, auto*... piece) {
      average(elements, piece..., u.data() + from, k);
    };
    const T* const weights = part.parameters.data() + begin;
    collectives::for_each_prefetched<T>(size, take, weights, part.gradient.data() + begin,
                                        part.state[0].data() + begin, part.state[1].data() + begin);
    squares.add(std::span<const T>(u.data(), size));
  });
  return squares.value();
}

template <class T>
double Lamb<T>::step(const TensorPart<T>& part, const TensorFacts& tensor) const {
  const Constants<T> k = make_constants<T>(options_, rate_, corrections_, tensor.is_vector);
  const auto rate = static_cast<T>(rate_.learning_rate * ratio_of(tensor));
  SquareSum squares;
  for_each_piece(part.parameters.size(), [&](std::size_t begin, std::size_t size) {
    const auto take = [&](std::size_t, std::size_t elements, auto*... piece) {
      step_along(elements, piece..., rate, k);
    };
    const T* const average_gradient = part.state[0].data() + begin;
    const T* const average_square = part.state[1].data() + begin;
    collectives::for_each_prefetched<T>(size, take, part.parameters.data() + begin,
                                        average_gradient, average_square);
    squares.add(std::span<const T>(part.parameters.subspan(begin, size)));
  });
  return squares.value();
}

template <class T>
std::vector<NamedScalar> Lamb<T>::scalars() const {
  return {{"step", step_}};
}

template <class T>
void Lamb<T>::restore_scalars(const std::vector<NamedScalar>& scalars) {
  const double step = scalar_values("lamb", {"step"}, scalars)[0];
  require_value(step >= 0 && step == std::floor(step), "state of lamb: scalar 'step'", step,
                "a count of updates");
  step_ = step;
}

template class Lamb<float>;
template class Lamb<double>;

}  // namespace rubato::optim
