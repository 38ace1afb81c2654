#include "collectives/addend_sum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace rubato::collectives {
namespace {

// Sums of these depend on the order of addition.
float value(std::size_t addend, std::size_t position) {
  return std::sin(static_cast<float>(1000 * addend + position)) *
         std::pow(10.0F, static_cast<float>(addend % 3));
}

TEST(AddendSum, AddsInTheOrderOfTheAddendsWhateverTheirNumber) {
  constexpr std::size_t size = 131;
  constexpr std::size_t begin = 5;
  std::vector<std::vector<float>> arrays;
  for (std::size_t count = 1; count <= 11; ++count) {
    arrays.emplace_back();
    for (std::size_t i = 0; i < begin + size; ++i) {
      arrays.back().push_back(value(count, i));
    }
    std::vector<const float*> addends;
    for (const std::vector<float>& each : arrays) {
      addends.push_back(each.data());
    }
    std::vector<float> sum(size);
    sum_addends<float>(addends, begin, size, sum.data());
    for (std::size_t i = 0; i < size; ++i) {
      float expected = arrays[0][begin + i];
      for (std::size_t addend = 1; addend < count; ++addend) {
        expected += arrays[addend][begin + i];
      }
      EXPECT_EQ(sum[i], expected) << count << " addends, position " << i;
    }
  }
}

}  // namespace
}  // namespace rubato::collectives
