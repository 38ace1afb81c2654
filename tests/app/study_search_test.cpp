#include "app/study_search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/failure.hpp"
#include "data/errors.hpp"
#include "tests/temporary_directory.hpp"

namespace rubato::app {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Eight cells: two variants, two batch sizes, two seeds.
class StudySearch : public testing::Test {
 protected:
  StudySearch() {
    directory_.write("study.ini",
                     "[study]\nname = s\n[common]\ndata = digits\nepochs = 2\nlr = 0.1 * k\n"
                     "[grid]\nbatch-size = 64 128\nseed = 1 2\n"
                     "[variant plain]\nmomentum = 0.5\n[variant layers]\noptimizer = lars\n");
  }

  std::string cell(const std::string& conditions) const {
    return find_cell(directory_.path(), conditions).lexically_relative(directory_.path());
  }

  std::string complaint(const std::string& conditions) const {
    try {
      cell(conditions);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "nothing";
  }

  TemporaryDirectory directory_;
};

TEST_F(StudySearch, FindsTheOneCellThatMeetsAllConditions) {
  EXPECT_EQ(cell("variant=plain,batch=128,seed=2"), "cells/batch=128,variant=plain,seed=2");
  EXPECT_EQ(cell("optimizer=lars,batch=64,seed=1"), "cells/batch=64,variant=layers,seed=1");
}

TEST_F(StudySearch, KnowsOptionsAndWhatFormulasCameTo) {
  EXPECT_EQ(cell("lr=0.2,momentum=0.5,seed=1"), "cells/batch=128,variant=plain,seed=1");
  EXPECT_EQ(cell("batch-size=64,momentum=0.5,seed=2"), "cells/batch=64,variant=plain,seed=2");
}

TEST_F(StudySearch, RefusesWhatMeansNoneOrMany) {
  EXPECT_EQ(complaint("batch=256"),
            "--where batch=256: no cell of the study is so (of 8 cells; the first is"
            " batch=64,variant=plain,seed=1)");
  EXPECT_EQ(complaint("batch=64,seed=1"),
            "--where batch=64,seed=1: 2 cells are so (batch=64,variant=plain,seed=1"
            " batch=64,variant=layers,seed=1); say more of the one that is meant");
  EXPECT_THAT(complaint("epochs=2"), AllOf(HasSubstr(": 8 cells are so ("), HasSubstr(" ...);")));
}

TEST_F(StudySearch, RefusesWhatIsNoCondition) {
  EXPECT_EQ(complaint("optimiser=lars"),
            "--where: the cells of this study have no \"optimiser\"; did you mean \"optimizer\"?");
  EXPECT_EQ(complaint("qqqq=1"), "--where: the cells of this study have no \"qqqq\"");
  for (const char* wrong : {"batch", "=64", "batch=", "batch=64,seed"}) {
    EXPECT_THAT(complaint(wrong), HasSubstr("is not of the form NAME=VALUE")) << wrong;
  }
}

TEST_F(StudySearch, RefusesADirectoryThatIsNoStudy) {
  const TemporaryDirectory other;
  EXPECT_THROW(find_cell(other.path(), "batch=64"), data::MissingFileError);
}

TEST_F(StudySearch, KnowsDefaultsAndNumbers) {
  EXPECT_EQ(cell("optimizer=sgd,batch=64,seed=1"), "cells/batch=64,variant=plain,seed=1");
  EXPECT_EQ(cell("lr=0.20,momentum=5e-1,seed=2.0"), "cells/batch=128,variant=plain,seed=2");
  EXPECT_THAT(complaint("rule=root"), HasSubstr("no cell of the study is so"));
}

TEST_F(StudySearch, KnowsTracesByNameAndByPath) {
  directory_.write("study.ini",
                   "[study]\nname = s\n[common]\ndata = digits\nepochs = 2\n"
                   "[grid]\ntrace = t/up.csv t/down.csv\n");
  EXPECT_EQ(cell("trace=up"), "cells/trace=up");
  EXPECT_EQ(cell("trace=t/down.csv"), "cells/trace=down");
}

}  // namespace
}  // namespace rubato::app
