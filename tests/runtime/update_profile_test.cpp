// Means that outliers do not bend, and that a checkpoint keeps.
#include "runtime/update_profile.hpp"

#include <gtest/gtest.h>

#include <string>

namespace rubato::runtime {
namespace {

constexpr UpdateKind small{1, 2, 32, 2};
constexpr UpdateKind large{1, 2, 64, 4};

TEST(UpdateProfile, TakesTheMeanOfTheMiddleHalf) {
  UpdateProfile profile;
  for (const double seconds : {2.0, 3.0, 1000.0, 1.0, 4.0, 2.0, 3.0, 0.0}) {
    profile.observe(small, seconds / 2, seconds);
  }
  EXPECT_TRUE(profile.measurements().empty());
  profile.settle(1);
  const auto measured = profile.measurements();
  ASSERT_EQ(measured.size(), 1U);
  EXPECT_EQ(measured[0].work, (optim::UpdateWork{1, 2, 32, 1}));
  EXPECT_DOUBLE_EQ(measured[0].update_seconds, 2.5);  // of 2 2 3 3
  EXPECT_DOUBLE_EQ(measured[0].substep_seconds, 1.25);
  EXPECT_EQ(measured[0].observations, 8U);
}

TEST(UpdateProfile, SettlingNothingChangesNothing) {
  UpdateProfile profile;
  profile.settle(1);
  EXPECT_TRUE(profile.measurements().empty());
  profile.observe(small, 1, 1);
  profile.settle(1);
  profile.settle(5);
  ASSERT_EQ(profile.measurements().size(), 1U);
  EXPECT_EQ(profile.measurements()[0].work.substeps, 1);
}

TEST(UpdateProfile, WeighsEarlierUpdatesByTheirNumber) {
  UpdateProfile profile;
  for (int i = 0; i < 3; ++i) profile.observe(small, 1, 2);
  profile.settle(1);
  profile.observe(large, 7, 9);
  profile.settle(2);
  profile.observe(small, 5, 10);
  profile.settle(1);
  const auto measured = profile.measurements();
  ASSERT_EQ(measured.size(), 2U);
  EXPECT_DOUBLE_EQ(measured[0].update_seconds, 9);
  EXPECT_DOUBLE_EQ(measured[1].update_seconds, 4);
  EXPECT_DOUBLE_EQ(measured[1].substep_seconds, 2);
  EXPECT_EQ(measured[1].observations, 4U);
}

// After a thousand updates at the old speed, the last five hundred at the new one are a third.
TEST(UpdateProfile, ForgetsSlowly) {
  UpdateProfile profile;
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 500; ++i) profile.observe(small, 1, 1);
    profile.settle(1);
  }
  for (int i = 0; i < 500; ++i) profile.observe(small, 4, 4);
  profile.settle(1);
  EXPECT_NEAR(profile.measurements()[0].update_seconds, 2, 1e-9);
}

TEST(UpdateProfile, OfMoreUpdatesThanItHoldsTheLastCount) {
  UpdateProfile profile;
  for (int i = 0; i < 5000; ++i) profile.observe(small, 1, i < 3000 ? 1 : 2);
  profile.settle(1);
  EXPECT_DOUBLE_EQ(profile.measurements()[0].update_seconds, 2);
}

TEST(UpdateProfile, HoldsTheKindsSeenLast) {
  UpdateProfile profile;
  for (std::uint64_t minibatch = 1; minibatch <= 300; ++minibatch) {
    profile.observe({1, 1, minibatch, 1}, 1, 1);
    profile.settle(1);
  }
  const auto measured = profile.measurements();
  EXPECT_EQ(measured.size(), 200U);
  EXPECT_EQ(measured.front().work.minibatch, 101);
}

TEST(UpdateProfile, IsTheSameAfterACheckpoint) {
  UpdateProfile profile;
  profile.observe(small, 0.1, 1.0 / 3);
  profile.settle(1.25);
  profile.observe(large, 1e-7, 2e-5);
  profile.settle(2);
  UpdateProfile other;
  other.restore(profile.text());
  EXPECT_EQ(other.text(), profile.text());
  const auto before = profile.measurements();
  const auto after = other.measurements();
  ASSERT_EQ(after.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(after[i].work, before[i].work);
    EXPECT_EQ(after[i].update_seconds, before[i].update_seconds);
    EXPECT_EQ(after[i].substep_seconds, before[i].substep_seconds);
  }
}

TEST(UpdateProfile, PassesOverWhatMakesNoSense) {
  UpdateProfile profile;
  profile.restore("\nnonsense\n1 2 3\n1 2 32 2 1 0.5 1 0\n1 2 32 2 1 0.5 1 7 and more\n");
  ASSERT_EQ(profile.measurements().size(), 1U);
  EXPECT_EQ(profile.measurements()[0].observations, 7U);
}

}  // namespace
}  // namespace rubato::runtime
