// A slice on its own is a tensor: what update_slice() measures itself is what others hand in.
#include "optim/layerwise.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "optim/squared_norm.hpp"

namespace rubato::optim {
namespace {

template <class T>
struct Tensor {
  explicit Tensor(std::size_t size, std::size_t buffers)
      : w(size), g(size), state(buffers, std::vector<T>(size, T(0.01))) {
    for (std::size_t i = 0; i < size; ++i) {
      w[i] = static_cast<T>(std::sin(0.3 * static_cast<double>(i)));
      g[i] = static_cast<T>(std::cos(0.2 * static_cast<double>(i)));
    }
  }
  std::vector<std::span<T>> buffers(std::size_t begin, std::size_t size) {
    std::vector<std::span<T>> all;
    for (auto& buffer : state) all.push_back(std::span(buffer).subspan(begin, size));
    return all;
  }
  std::vector<T> w, g;
  std::vector<std::vector<T>> state;
};

std::vector<OptimizerOptions> all_options() {
  std::vector<OptimizerOptions> all;
  for (const std::string& form : lars_form_names()) {
    OptimizerOptions lars{.name = "lars", .momentum = 0.9, .weight_decay = 0.01};
    lars.lars_form = lars_form(form);
    all.push_back(lars);
  }
  all.push_back({.name = "lamb", .weight_decay = 0.01});
  return all;
}

// In parts, whose squares are added up, as if it were whole.
TEST(Layerwise, ATensorInPartsStepsAsAWholeOne) {
  constexpr std::size_t size = 2048;
  for (const OptimizerOptions& options : all_options()) {
    const auto plain = make_optimizer<float>(options);
    Tensor<float> whole(size, plain->state_names().size());
    plain->begin_update({0.5, 2, 0.5});
    plain->update_slice(whole.w, whole.g, whole.buffers(0, size));

    const auto owner = make_optimizer<float>(options);
    const auto& optimizer = dynamic_cast<const LayerwiseOptimizer<float>&>(*owner);
    Tensor<float> cut(size, owner->state_names().size());
    owner->begin_update({0.5, 2, 0.5});
    TensorFacts facts;
    const auto for_each_part = [&](const auto& use) {
      for (const std::size_t begin : {0UL, 512UL, 1024UL}) {
        const std::size_t part = begin == 1024 ? 1024 : 512;
        const auto buffers = cut.buffers(begin, part);
        use(TensorPart<float>{std::span(cut.w).subspan(begin, part),
                              std::span<const float>(cut.g).subspan(begin, part), buffers});
      }
    };
    for_each_part([&](const TensorPart<float>& part) {
      facts.weight_square += squared_norm(std::span<const float>(part.parameters));
      facts.gradient_square += squared_norm(part.gradient);
      facts.direction_square += optimizer.make_direction(part, false);
    });
    double square = 0;
    for_each_part([&](const TensorPart<float>& part) { square += optimizer.step(part, facts); });
    for (std::size_t i = 0; i < size; ++i) ASSERT_FLOAT_EQ(cut.w[i], whole.w[i]) << options.name;
    EXPECT_NEAR(square, squared_norm(std::span<const float>(cut.w)), 1e-9) << options.name;
    EXPECT_EQ(optimizer.makes_directions(), facts.direction_square > 0) << options.name;
  }
}

}  // namespace
}  // namespace rubato::optim
