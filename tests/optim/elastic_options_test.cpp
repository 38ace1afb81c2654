#include "optim/elastic_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace rubato::optim {
namespace {

using testing::ElementsAre;
using testing::ThrowsMessage;

TEST(NoiseMetric, IsKnownByName) {
  EXPECT_THAT(noise_metric_names(), ElementsAre("auto", "plain", "preconditioned", "both"));
  EXPECT_EQ(noise_metric("auto"), NoiseMetric::automatic);
  EXPECT_EQ(noise_metric("plain"), NoiseMetric::plain);
  EXPECT_EQ(noise_metric("preconditioned"), NoiseMetric::preconditioned);
  EXPECT_EQ(noise_metric("both"), NoiseMetric::both);
  EXPECT_THAT([] { noise_metric("adam"); },
              ThrowsMessage<std::invalid_argument>(
                  "unknown noise metric 'adam'; valid names: auto, plain, preconditioned, both"));
}

}  // namespace
}  // namespace rubato::optim
