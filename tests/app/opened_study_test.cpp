#include "app/opened_study.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "app/failure.hpp"
#include "app/train_options.hpp"
#include "runtime/state_file.hpp"
#include "tests/temporary_directory.hpp"

namespace rubato::app {
namespace {

using testing::HasSubstr;

// Two cells, of one and two epochs; the first has been begun, with its options as they are.
class OpenedStudyTest : public testing::Test {
 protected:
  OpenedStudyTest() {
    write_study("0.05");
    const OpenedStudy study(file_, train_);
    first_ = study.directory_of(study.cells()[0]);
    std::filesystem::create_directories(first_);
    config_ = study.options_of(study.cells()[0]).as_ini();
    write("config.ini", config_);
  }

  void write_study(const std::string& rate) {
    directory_.write("s.ini", "[study]\nname = s\nout = " + (directory_.path() / "s").string() +
                                  "\n[common]\ndata = digits\nbatch-size = 32\nlr = " + rate +
                                  "\n[grid]\nepochs = 1 2\n");
  }
  void write(const std::string& name, const std::string& text) {
    directory_.write((first_ / name).lexically_relative(directory_.path()).string(), text);
  }
  void end(runtime::RunState state) {
    runtime::RunStatus status;
    status.state = state;
    runtime::write_status(first_, status);
  }

  const TemporaryDirectory directory_;
  const std::string file_ = (directory_.path() / "s.ini").string();
  const OptionTable train_ = train_table();
  std::filesystem::path first_;
  std::string config_;
};

TEST_F(OpenedStudyTest, KnowsHowFarItsCellsAre) {
  OpenedStudy study(file_, train_);
  EXPECT_EQ(study.name(), "s");
  ASSERT_EQ(study.courses().size(), 2U);
  EXPECT_EQ(study.courses()[0].state, CellState::begun);
  EXPECT_EQ(study.courses()[1].state, CellState::absent);
  end(runtime::RunState::finished);
  EXPECT_EQ(study.courses()[0].state, CellState::begun);
  study.read_course(0);
  EXPECT_EQ(study.courses()[0].state, CellState::finished);
}

TEST_F(OpenedStudyTest, GoesOnWithACellWhoseEndHasChanged) {
  end(runtime::RunState::finished);
  const auto place = config_.find("epochs = 1");
  ASSERT_NE(place, std::string::npos) << config_;
  write("config.ini", config_.replace(place, 10, "epochs = 9"));
  EXPECT_EQ(OpenedStudy(file_, train_).courses()[0].state, CellState::begun);
}

TEST_F(OpenedStudyTest, RefusesTheCellsOfAnotherStudy) {
  write_study("0.06");
  try {
    OpenedStudy(file_, train_);
    FAIL() << "expected an exception";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("s/cells/epochs=1: --lr 0.06: the run to go on with has "));
    EXPECT_THAT(error.what(), HasSubstr("(give the study another out = DIRECTORY)"));
  }
}

TEST_F(OpenedStudyTest, TriesItsCellsUnlessAllAreOver) {
  int tried = 0;
  const auto try_cell = [&](const runtime::RunOptions& run) -> std::optional<double> {
    ++tried;
    return static_cast<double>(*run.epochs);
  };
  OpenedStudy study(file_, train_);
  study.try_cells(try_cell);
  EXPECT_EQ(tried, 2);
  EXPECT_EQ(study.cells()[0].trial_seconds, 1);
  EXPECT_EQ(study.cells()[1].trial_seconds, 2);

  directory_.write("s.ini", "[study]\nname = s\nout = " + (directory_.path() / "s").string() +
                                "\n[common]\ndata = digits\nbatch-size = 32\n[grid]\nepochs = 1\n");
  end(runtime::RunState::finished);
  OpenedStudy over(file_, train_);
  over.try_cells([](const runtime::RunOptions&) -> std::optional<double> {
    throw std::invalid_argument("nothing is left to be tried");
  });
  EXPECT_FALSE(over.cells()[0].trial_seconds);
}

}  // namespace
}  // namespace rubato::app
