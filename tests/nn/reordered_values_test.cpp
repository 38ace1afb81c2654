#include "nn/reordered_values.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace rubato::nn {
namespace {

using dnnl::memory;

memory::desc two_by_three(memory::format_tag tag) { return {{2, 3}, memory::data_type::f32, tag}; }

float* place(const ReorderedValues& values) {
  return static_cast<float*>(values.object().get_data_handle());
}

class ReorderedValuesTest : public testing::Test {
 protected:
  std::vector<float> network_ = {1, 2, 3, 4, 5, 6};
  std::vector<float> memory_ = std::vector<float>(18, -1.0F);
  std::span<float> space_ = memory_;
};

TEST_F(ReorderedValuesTest, AreReadInTheKernelsOrder) {
  ReorderedValues values(two_by_three(memory::format_tag::ab),
                         two_by_three(memory::format_tag::ba));
  EXPECT_EQ(values.floats(), 16U) << "a cache line";
  values.read(network_, space_);
  EXPECT_EQ(place(values), memory_.data());
  EXPECT_EQ(std::vector<float>(memory_.begin(), memory_.begin() + 7),
            (std::vector<float>{1, 4, 2, 5, 3, 6, -1}));
  EXPECT_EQ(space_.data(), memory_.data() + 16);
  EXPECT_EQ(space_.size(), 2U);
}

TEST_F(ReorderedValuesTest, AreWrittenInTheNetworksOrder) {
  ReorderedValues values(two_by_three(memory::format_tag::ab),
                         two_by_three(memory::format_tag::ba));
  values.write(network_, space_);
  EXPECT_EQ(network_.front(), 1) << "nothing is written yet";
  EXPECT_EQ(space_.size(), 2U);
  std::ranges::copy(std::vector<float>{10, 40, 20, 50, 30, 60}, place(values));
  values.finish_write();
  EXPECT_EQ(network_, (std::vector<float>{10, 20, 30, 40, 50, 60}));
}

TEST_F(ReorderedValuesTest, StayWhereTheyAreIfTheOrdersAreTheSame) {
  ReorderedValues values(two_by_three(memory::format_tag::ab),
                         two_by_three(memory::format_tag::ab));
  EXPECT_EQ(values.floats(), 0U);
  values.read(network_, space_);
  EXPECT_EQ(place(values), network_.data());
  std::vector<float> other(6);
  values.write(other, space_);
  EXPECT_EQ(place(values), other.data());
  values.finish_write();
  EXPECT_EQ(space_.size(), memory_.size());
}

}  // namespace
}  // namespace rubato::nn
