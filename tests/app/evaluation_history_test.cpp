// Evaluations among the other lines of a run's metrics.
#include "app/evaluation_history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "data/errors.hpp"
#include "runtime/metrics_file.hpp"
#include "tests/temporary_directory.hpp"

namespace rubato::app {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class EvaluationHistory : public testing::Test {
 protected:
  TemporaryDirectory directory;
};

TEST_F(EvaluationHistory, ReadsWhatARunWrites) {
  const auto file = directory.path() / "metrics.jsonl";
  {
    runtime::MetricsFile metrics(file);
    metrics.begin({});
    metrics.update({});
    metrics.evaluation({.update = 44, .epoch = 1.25, .loss = 0.5, .accuracy = 0.1 + 0.2});
    metrics.evaluation({.update = 88,
                        .epoch = 2,
                        .loss = std::numeric_limits<double>::infinity(),
                        .accuracy = 0.125});
    metrics.end({});
  }
  const auto history = evaluation_history(file);
  ASSERT_EQ(history.size(), 2U);
  EXPECT_EQ(history[0].update, 44U);
  EXPECT_EQ(history[0].epoch, 1.25);
  EXPECT_EQ(history[0].loss, 0.5);
  EXPECT_EQ(history[0].accuracy, 0.1 + 0.2);  // all digits
  EXPECT_EQ(history[1].update, 88U);
  EXPECT_TRUE(std::isnan(history[1].loss));
}

TEST_F(EvaluationHistory, LeavesOutALineThatIsBeingWritten) {
  const std::string line = R"({"type":"eval","update":1,"epoch":1.0,"loss":2.0,"accuracy":0.5})";
  EXPECT_EQ(evaluation_history(directory.write("a", line + "\n" + line.substr(0, 30))).size(), 1U);
  EXPECT_EQ(evaluation_history(directory.write("a", line)).size(), 0U);
  EXPECT_EQ(evaluation_history(directory.write("a", "")).size(), 0U);
}

TEST_F(EvaluationHistory, NamesTheLineThatIsWrong) {
  for (const std::string rest :
       {"", R"(,"update":1,"epoch":1.0,"loss":2.0})", R"(,"update":-1,"epoch":1.0)",
        R"(,"update":1,"epoch":"x","loss":2.0,"accuracy":0.5})"}) {
    const auto file = directory.write("m", "{}\n{\"type\":\"eval\"" + rest + "\n");
    EXPECT_THAT([&] { evaluation_history(file); },
                ThrowsMessage<data::ContentError>(HasSubstr(
                    file.string() + ":2: found \"{\"type\":\"eval\"" + rest.substr(0, 10))));
  }
  EXPECT_THROW(evaluation_history(directory.path() / "nowhere"), data::MissingFileError);
}

}  // namespace
}  // namespace rubato::app
