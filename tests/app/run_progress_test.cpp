#include "app/run_progress.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <string>

#include "runtime/state_file.hpp"

namespace rubato::app {
namespace {

namespace fs = std::filesystem;

class RunProgress : public testing::Test {
 protected:
  RunProgress() {
    std::string name = (fs::temp_directory_path() / "rubato-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot create " + name);
    directory_ = name;
  }
  ~RunProgress() override { fs::remove_all(directory_); }
  void metrics(const std::string& text) { std::ofstream(directory_ / "metrics.jsonl") << text; }

  fs::path directory_;
};

const std::string two_updates =
    "{\"type\":\"context\",\"update\":99}\n{\"type\":\"update\",\"update\":6}\n"
    "{\"type\":\"update\",\"update\":7}\n{\"type\":\"evaluation\",\"update\":98}\n";

TEST_F(RunProgress, IsNothingWhereNothingIs) {
  EXPECT_EQ(last_update(directory_), 0U);
  EXPECT_EQ(last_update(directory_ / "nowhere"), 0U);
  metrics("no json\n{\"type\":\"update\"}\n{\"type\":\"update\",\"update\":\"x\"}\n[1]\n");
  EXPECT_EQ(last_update(directory_), 0U);
}

TEST_F(RunProgress, IsTheLastWholeLineOfAnUpdate) {
  metrics(two_updates + "{\"type\":\"update\",\"upd");
  EXPECT_EQ(last_update(directory_), 7U);
}

TEST_F(RunProgress, NeedsOnlyTheEndOfALongFile) {
  metrics(std::string(1 << 20U, 'x') + "\n" + two_updates);
  EXPECT_EQ(last_update(directory_), 7U);
}

TEST_F(RunProgress, IsThatOfTheStateIfThatIsLater) {
  metrics(two_updates);
  runtime::RunStatus status;
  status.update = 5;
  runtime::write_status(directory_, status);
  EXPECT_EQ(last_update(directory_), 7U);
  status.update = 8;
  runtime::write_status(directory_, status);
  EXPECT_EQ(last_update(directory_), 8U);
  std::ofstream(directory_ / "state.json") << "{";
  EXPECT_EQ(last_update(directory_), 7U);
}

}  // namespace
}  // namespace rubato::app
