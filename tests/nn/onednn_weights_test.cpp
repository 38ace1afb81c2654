#include "nn/onednn_weights.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace rubato::nn {
namespace {

using dnnl::memory;

memory::desc floats(memory::format_tag tag) { return {{2, 3}, memory::data_type::f32, tag}; }

std::vector<float> content(const OnednnWeights::Ordered& ordered) {
  const auto* const begin = static_cast<const float*>(ordered.object().get_data_handle());
  return {begin, begin + 6};
}

TEST(OnednnWeights, AreBroughtToEachOrder) {
  AlignedBuffer<float> plain;
  std::ranges::copy(std::vector<float>{1, 2, 3, 4, 5, 6}, plain.first(6).begin());
  OnednnWeights weights;
  weights.use(plain.first(6));
  auto& same = weights.in_order(floats(memory::format_tag::ab), floats(memory::format_tag::ab));
  auto& across = weights.in_order(floats(memory::format_tag::ab), floats(memory::format_tag::ba));
  weights.bring_to(same);
  weights.bring_to(across);
  EXPECT_EQ(content(same), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(content(across), (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

TEST(OnednnWeights, HaveOnePlaceForAnOrderWhoeverAsks) {
  OnednnWeights weights;
  const auto plain = floats(memory::format_tag::ab);
  auto& first = weights.in_order(plain, floats(memory::format_tag::ba));
  const void* const place = first.object().get_data_handle();
  EXPECT_NE(&weights.in_order(plain, plain), &first);
  EXPECT_EQ(&weights.in_order(plain, floats(memory::format_tag::ba)), &first);
  EXPECT_EQ(first.object().get_data_handle(), place);
}

TEST(OnednnWeights, AreBroughtOncePerUpdate) {
  AlignedBuffer<float> plain;
  const std::span<float> values = plain.first(6);
  std::ranges::fill(values, 1.0F);
  OnednnWeights weights;
  auto& ordered = weights.in_order(floats(memory::format_tag::ab), floats(memory::format_tag::ba));
  weights.use(values);
  weights.bring_to(ordered);
  std::ranges::fill(values, 2.0F);
  weights.bring_to(ordered);
  EXPECT_EQ(content(ordered), std::vector<float>(6, 1.0F)) << "they were promised not to change";
  weights.use(values);
  weights.bring_to(ordered);
  EXPECT_EQ(content(ordered), std::vector<float>(6, 2.0F));
}

}  // namespace
}  // namespace rubato::nn
