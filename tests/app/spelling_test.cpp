#include "app/spelling.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "app/failure.hpp"

namespace rubato::app {
namespace {

using testing::StrEq;
using testing::ThrowsMessage;

TEST(EditDistance, CountsInsertedDeletedReplacedAndSwappedLetters) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("model", "model"), 0U);
  EXPECT_EQ(edit_distance("modl", "model"), 1U);
  EXPECT_EQ(edit_distance("moodel", "model"), 1U);
  EXPECT_EQ(edit_distance("nodel", "model"), 1U);
  EXPECT_EQ(edit_distance("modle", "model"), 1U);  // 2 without swaps
  EXPECT_EQ(edit_distance("ca", "abc"), 3U);       // restricted: no letter is touched twice
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("sitting", "kitten"), 3U);
}

TEST(Nearest, IsTheFirstOfTheCandidatesWithFewestEdits) {
  const std::vector<std::string> names{"linear", "mlp", "mnist", "mnist-tutorial"};
  EXPECT_EQ(nearest("mnsit", names), "mnist");
  EXPECT_EQ(nearest("liner", names), "linear");
  EXPECT_EQ(nearest("mnist-tutorail", names), "mnist-tutorial");
  const std::vector<std::string> equals{"bat", "cat"};
  EXPECT_EQ(nearest("rat", equals), "bat");
}

TEST(Nearest, IsNothingWhereMoreThanAThirdOfTheWordDiffers) {
  const std::vector<std::string> names{"adagrad", "sgd"};
  EXPECT_EQ(nearest("frobnicate", names), std::nullopt);
  EXPECT_EQ(nearest("xyd", names), std::nullopt);
  EXPECT_EQ(nearest("sgb", names), "sgd");
  EXPECT_EQ(nearest("anything", {}), std::nullopt);
}

TEST(RequireChoice, NamesTheNearestAndAllValidNames) {
  const std::vector<std::string> names{"linear", "mnist"};
  EXPECT_NO_THROW(require_choice("model", "mnist", names));
  EXPECT_THAT([&] { require_choice("model", "mnsit", names); },
              ThrowsMessage<UsageError>(StrEq(
                  "unknown model \"mnsit\": did you mean \"mnist\"? (valid: linear, mnist)")));
  EXPECT_THAT([&] { require_choice("model", "zzz", names); },
              ThrowsMessage<UsageError>(StrEq("unknown model \"zzz\" (valid: linear, mnist)")));
}

TEST(Spelling, AKindStandsBeforeTheColon) {
  EXPECT_EQ(kind_of("mlp:512,512"), "mlp");
  EXPECT_EQ(kind_of("csv:a:b"), "csv");
  EXPECT_EQ(kind_of("mnist"), "mnist");
}

}  // namespace
}  // namespace rubato::app
