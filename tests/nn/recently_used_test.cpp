#include "nn/recently_used.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace rubato::nn {
namespace {

TEST(RecentlyUsed, KeepsTheKeysUsedLast) {
  RecentlyUsed<int, std::string> kept(3);
  std::vector<int> made;
  const auto get = [&](int key) {
    return kept.get(key, [&](int missing) {
      made.push_back(missing);
      return std::to_string(missing);
    });
  };
  for (const int key : {1, 2, 3, 1, 4}) EXPECT_EQ(get(key), std::to_string(key));
  EXPECT_THAT(made, testing::ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(kept.size(), 3U);
  for (const int key : {1, 3, 4}) get(key);  // 2 is gone, which was not used for longest
  EXPECT_EQ(made.size(), 4U);
  get(2);
  EXPECT_EQ(made.back(), 2);
  EXPECT_EQ(get(1), "1");  // it went for 2
  EXPECT_EQ(made.size(), 6U);
}

TEST(RecentlyUsed, LetsGoBeforeItMakesTheNext) {
  RecentlyUsed<int, std::shared_ptr<int>> kept(2);
  const auto make = [](int key) { return std::make_shared<int>(key); };
  const std::weak_ptr<int> first = kept.get(1, make);
  kept.get(2, make);
  kept.get(3, [&](int key) {
    EXPECT_TRUE(first.expired());
    return make(key);
  });
}

TEST(RecentlyUsed, AFailureToMakeLeavesNothingBehind) {
  RecentlyUsed<int, int> kept(2);
  EXPECT_THROW(kept.get(1, [](int) -> int { throw std::string("no"); }), std::string);
  EXPECT_EQ(kept.size(), 0U);
  EXPECT_EQ(kept.get(1, [](int) { return 7; }), 7);
}

}  // namespace
}  // namespace rubato::nn
