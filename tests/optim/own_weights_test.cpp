#include "optim/own_weights.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace rubato::optim {
namespace {

using testing::ElementsAre;

TEST(OwnWeights, TakeTheSliceOfTheRankAndThoseOfOthers) {
  std::vector<float> shared = {1, 2, 3, 4, 5, 6};
  OwnWeights own(shared, {2, 3});
  EXPECT_THAT(own.all(), ElementsAre(0, 0, 0, 0, 0, 0));
  own.take_mine();
  EXPECT_THAT(own.all(), ElementsAre(0, 0, 3, 4, 5, 0));
  for (float& weight : shared) weight *= 10;
  own.take_others();
  EXPECT_THAT(own.all(), ElementsAre(10, 20, 3, 4, 5, 60));
}

TEST(OwnWeights, OfABlockLieWhereItLiesAmongAll) {
  const std::vector<float> shared(100);
  const OwnWeights own(shared, {32, 64});
  const std::span<float> block = own.of(std::span(shared).subspan(48, 16));
  EXPECT_EQ(block.data(), own.all().data() + 48);
  EXPECT_EQ(block.size(), 16U);
}

TEST(OwnWeights, OfARankWithoutASliceAreAllOthers) {
  const std::vector<float> shared = {1, 2, 3};
  OwnWeights own(shared, {});
  own.take_mine();
  EXPECT_THAT(own.all(), ElementsAre(0, 0, 0));
  own.take_others();
  EXPECT_THAT(own.all(), ElementsAre(1, 2, 3));
}

}  // namespace
}  // namespace rubato::optim
