// The update loops, one per form, written so that the compiler turns them into vector code:
// restricted pointers, no branches. Each is bound by memory: 12 bytes per float parameter and
// update without momentum, 20 with it.
#include "optim/sgd.hpp"

#include <cstddef>
#include <stdexcept>

#include "collectives/loop_prefetch.hpp"
#include "optim/named_scalars.hpp"
#include "optim/option_check.hpp"
#include "optim/update_check.hpp"

namespace rubato::optim {
namespace {

// What an update's loop needs, rounded once to the type it computes in.
template <class T>
struct Constants {
  T learning_rate;   // lr
  T gradient_scale;  // c
  T gradient_clip;   // k
  T scaled_rate;     // lr * c
  T decay;           // weight decay
  T momentum;        // m; v-corrected: m * (lr / previous lr)
};

// Most updates are not clipped, and are spared the multiplication.
template <bool is_clipped, class T>
T clipped(T gradient, const Constants<T>& k) {
  return is_clipped ? k.gradient_clip * gradient : gradient;
}

template <bool is_clipped, class T>
void update_plain(std::size_t size, T* __restrict w, const T* __restrict g, Constants<T> k) {
  for (std::size_t i = 0; i < size; ++i) {
    w[i] -= k.scaled_rate * (clipped<is_clipped>(g[i], k) + k.decay * w[i]);
  }
}

template <bool is_clipped, class T>
void update_torch(std::size_t size, T* __restrict w, const T* __restrict g, T* __restrict u,
                  Constants<T> k) {
  for (std::size_t i = 0; i < size; ++i) {
    u[i] = k.momentum * u[i] + k.gradient_scale * (clipped<is_clipped>(g[i], k) + k.decay * w[i]);
    w[i] -= k.learning_rate * u[i];
  }
}

template <bool is_clipped, class T>
void update_nesterov(std::size_t size, T* __restrict w, const T* __restrict g, T* __restrict u,
                     Constants<T> k) {
  for (std::size_t i = 0; i < size; ++i) {
    const T direction = k.gradient_scale * (clipped<is_clipped>(g[i], k) + k.decay * w[i]);
    u[i] = k.momentum * u[i] + direction;
    w[i] -= k.learning_rate * (direction + k.momentum * u[i]);
  }
}

template <bool is_clipped, class T>
void update_v(std::size_t size, T* __restrict w, const T* __restrict g, T* __restrict v,
              Constants<T> k) {
  for (std::size_t i = 0; i < size; ++i) {
    v[i] = k.momentum * v[i] + k.scaled_rate * (clipped<is_clipped>(g[i], k) + k.decay * w[i]);
    w[i] -= v[i];
  }
}

template <bool is_clipped, class T>
void update(const OptimizerOptions& options, std::span<T> parameters, const T* g, T* momentum,
            const Constants<T>& k) {
  T* const w = parameters.data();
  const auto in_pieces = [&]<class Update>(Update update_piece, auto*... arrays) {
    const auto take = [=](std::size_t, std::size_t size, auto*... piece) {
      update_piece(size, piece..., k);
    };
    collectives::for_each_prefetched<T>(parameters.size(), take, arrays...);
  };
  if (momentum == nullptr) return in_pieces(update_plain<is_clipped, T>, w, g);
  if (options.form != MomentumForm::torch)
    return in_pieces(update_v<is_clipped, T>, w, g, momentum);
  if (options.nesterov) return in_pieces(update_nesterov<is_clipped, T>, w, g, momentum);
  in_pieces(update_torch<is_clipped, T>, w, g, momentum);
}

void check_options(const OptimizerOptions& options) {
  require_fraction("momentum", options.momentum);
  require_at_least_zero("weight decay", options.weight_decay);
  if (options.nesterov && (options.momentum == 0 || options.form != MomentumForm::torch)) {
    throw std::invalid_argument("nesterov needs a momentum above 0 and the momentum form torch");
  }
}

}  // namespace

template <class T>
Sgd<T>::Sgd(const OptimizerOptions& options) : options_(options) {
  check_options(options);
}

template <class T>
std::vector<std::string> Sgd<T>::state_names() const {
  if (options_.momentum == 0) return {};
  return {"momentum"};
}

template <class T>
void Sgd<T>::begin_update(const UpdateRate& rate) {
  check_update_rate(rate);
  rate_ = rate;
  rate_ratio_ = previous_rate_ > 0 ? rate.learning_rate / previous_rate_ : 1;
  if (needs_previous_rate()) previous_rate_ = rate.learning_rate;
}

template <class T>
void Sgd<T>::update_slice(std::span<T> parameters, std::span<const T> gradient,
                          std::span<const std::span<T>> state) const {
  check_slices(parameters, gradient, state, options_.momentum == 0 ? 0 : 1);
  const Constants<T> constants{static_cast<T>(rate_.learning_rate),
                               static_cast<T>(rate_.gradient_scale),
                               static_cast<T>(rate_.gradient_clip),
                               static_cast<T>(rate_.learning_rate * rate_.gradient_scale),
                               static_cast<T>(options_.weight_decay),
                               static_cast<T>(options_.momentum * rate_ratio_)};
  T* const momentum = state.empty() ? nullptr : state[0].data();
  const auto loop = rate_.gradient_clip < 1 ? update<true, T> : update<false, T>;
  loop(options_, parameters, gradient.data(), momentum, constants);
}

template <class T>
std::vector<NamedScalar> Sgd<T>::scalars() const {
  if (!needs_previous_rate()) return {};
  return {{"previous_rate", previous_rate_}};
}

template <class T>
void Sgd<T>::restore_scalars(const std::vector<NamedScalar>& scalars) {
  const std::vector<double> values = scalar_values("sgd", scalar_names(), scalars);
  if (needs_previous_rate()) previous_rate_ = values[0];
}

template <class T>
bool Sgd<T>::needs_previous_rate() const {
  return options_.form == MomentumForm::v_corrected && options_.momentum > 0;
}

template <class T>
std::vector<std::string> Sgd<T>::scalar_names() const {
  if (!needs_previous_rate()) return {};
  return {"previous_rate"};
}

template class Sgd<float>;
template class Sgd<double>;

}  // namespace rubato::optim
