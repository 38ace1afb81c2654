#include "app/study_cell.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "study_texts.hpp"

namespace rubato::app {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

TEST(StudyCell, HasAllItsOptionsInTheOrderOfTheTable) {
  const auto cells = cells_of_text("lr = 0.05 * k\nmodel = linear\n[grid]\nbatch-size = 64 96\n");
  ASSERT_EQ(cells.size(), 2U);
  const auto words = words_of(cells[1], "dir");
  EXPECT_THAT(words, ElementsAre("--data=digits", "--model=linear", "--batch-size=96", "--epochs=2",
                                 "--lr=0.075", StartsWith("--seed="), "--out", "dir"));
  EXPECT_EQ(cells[1].option("lr"), "0.075");
  EXPECT_EQ(cells[1].option("rule"), "") << "as rubato train has it";
}

TEST(StudyCell, IsCalledByWhatMakesItDiffer) {
  const auto cells = cells_of_text(
      "[grid]\nseed = 7\nrule = linear root\nbatch-size = 64\n[variant a]\n[variant b]\n");
  EXPECT_EQ(cells[3].name, "rule=root,batch=64,variant=b,seed=7");
  EXPECT_EQ(cells[3].group, "rule=root,b");
  EXPECT_EQ(cells[3].batch, "64");
  EXPECT_EQ(cells[3].coordinates.size(), 4U);
}

TEST(StudyCell, HasABatchOrATrace) {
  EXPECT_EQ(cells_of_text("batch-size = 32\n[grid]\nseed = 1\n")[0].batch, "32");
  EXPECT_EQ(cells_of_text("trace = t/up.csv\n[grid]\nseed = 1\n")[0].batch, "up");
  EXPECT_EQ(cells_of_text("[grid]\ntrace = t/up.csv\n")[0].batch, "up");
}

// The rate and the warm-up of a published study of LARS.
TEST(StudyCell, DerivesValuesFromItsBatch) {
  const auto cells = cells_of_text(
      "warmup = 1\nlr = 0.05 * k\nwarmup-multiplier = k\nminibatch = min(16, batch / 4)\n"
      "[grid]\nbatch-size = 128 32\n");
  EXPECT_EQ(cells[0].option("lr"), "0.2") << "k = 4: the base is the smallest, not the first";
  EXPECT_EQ(cells[0].option("warmup-multiplier"), "4");
  EXPECT_EQ(cells[0].option("minibatch"), "16");
  EXPECT_EQ(cells[1].option("lr"), "0.05");
  EXPECT_EQ(cells[1].option("minibatch"), "8");
}

TEST(StudyCell, HasABaseOfItsOwnWhereTheFileSaysNone) {
  const auto cells = cells_of_text("batch-size = 48\nlr = k\n[grid]\nseed = 1\n");
  EXPECT_EQ(cells[0].option("lr"), "1");
  const TemporaryFile file(
      "[study]\nname=s\nbase-batch=16\n[common]\ndata=digits\nepochs=1\nlr=1/k\nbatch-size=64\n"
      "[grid]\nseed=1\n");
  const OptionTable train = train_table();
  EXPECT_EQ(cells_of(read_study(file.path(), train), train)[0].option("lr"), "0.25");
}

TEST(StudyCell, KeepsNumbersAsTheyAreWritten) {
  const auto cells = cells_of_text("lr = 5e-4\nweight-decay = 1e-3 / 3\n[grid]\nbatch-size = 64\n");
  EXPECT_EQ(cells[0].option("lr"), "5e-4");
  EXPECT_EQ(cells[0].option("weight-decay"), "0.000333333333333333");
}

TEST(StudyCell, LeavesOutWhatHasNoMeaningWithItsVariant) {
  const auto cells = cells_of_text(
      "trust = 0.02\nmomentum = 0.8\n[grid]\nbatch-size = 64\noptimizer = sgd lars adam\n");
  EXPECT_EQ(cells[0].option("trust"), "");
  EXPECT_EQ(cells[0].option("momentum"), "0.8");
  EXPECT_EQ(cells[1].option("trust"), "0.02");
  EXPECT_EQ(cells[2].option("momentum"), "");
}

TEST(StudyCell, RefusesValuesThatTheOptionDoesNotTake) {
  EXPECT_EQ(complaint_about("[grid]\nbatch-size = 64\nlr = 0.1, -0.1\n"),
            ":8: lr -0.1: expected a positive number");
  EXPECT_THAT(complaint_about("rule = liner\n[grid]\nbatch-size = 64\n"),
              HasSubstr(":6: unknown rule \"liner\": did you mean \"linear\"?"));
  EXPECT_EQ(complaint_about("nesterov = yes\n[grid]\nbatch-size = 64\n"),
            ":6: nesterov yes: expected true or false");
  EXPECT_EQ(complaint_about("[grid]\nbatch-size = 64 0\n"),
            ":7: batch-size 0: expected a whole number from 1");
}

TEST(StudyCell, RefusesFormulasThatComeToNothing) {
  EXPECT_EQ(complaint_about("lr = 0.1 / (2 - k)\n[grid]\nbatch-size = 64, 128\n"),
            ":6: column 10: lr = \"0.1 / (2 - k)\" divides by zero (in the cell batch=128)");
  EXPECT_THAT(complaint_about("lr = 2 * kk\n[grid]\nbatch-size = 64\n"),
              HasSubstr(":6: column 10: lr = \"2 * kk\" has the unknown name \"kk\""));
  EXPECT_THAT(complaint_about("minibatch = batch / 3\n[grid]\nbatch-size = 32\n"),
              HasSubstr("comes to 10.6666666666667, expected a whole number"));
  EXPECT_THAT(complaint_about("lr = 1 - k\n[grid]\nbatch-size = 64\n"),
              HasSubstr(":6: lr 0: expected a positive number"));
  EXPECT_THAT(complaint_about("lr = k\n[grid]\ntrace = a.csv\n"),
              HasSubstr("unknown name \"k\" (valid: min, max, sqrt); k and batch need a "
                        "batch-size (in the cell trace=a)"))
      << "a trace has many batch sizes";
}

TEST(StudyCell, RefusesWhatTrainWouldRefuse) {
  EXPECT_THAT(complaint_about("updates = 9\n[grid]\nbatch-size = 64\n"),
              HasSubstr("--epochs and --updates exclude each other"));
  EXPECT_THAT(complaint_about("trust = 0.02\n[grid]\nbatch-size = 64\n"),
              StartsWith(":6: --trust needs --optimizer lars"));
  EXPECT_THAT(complaint_about("[grid]\nbatch-size = 64\n[variant v]\nmodel = mlpp:6\n"),
              HasSubstr(":9: unknown model \"mlpp\": did you mean \"mlp\"?"));
  EXPECT_THAT(complaint_about("[grid]\nrule = root\n"), HasSubstr(":6: no batch size"));
  EXPECT_THAT(complaint_about("[grid]\nbatch-size = 64\nmomentum = 0.9 1\n"),
              HasSubstr(":8: momentum is 1;"));
  EXPECT_THAT(complaint_about("[grid]\nbatch-size = 64\noptimizer = sgd adadelta\n"),
              HasSubstr(":8: the rule linear does not go with the optimizer adadelta"));
  EXPECT_THAT(complaint_about("[grid]\nbatch-size = 64\ntrace = a.csv\n"),
              HasSubstr("exclude each other; give one (in the cell batch=64,trace=a)"));
}

TEST(StudyCell, HasNoMoreEpochsThanItsSeedIsFor) {
  const TemporaryFile file(
      "[study]\nname=s\n[common]\ndata=digits\nepochs=4097\n[grid]\n"
      "batch-size=8\n");
  const OptionTable train = train_table();
  try {
    cells_of(read_study(file.path(), train), train);
    FAIL();
  } catch (const data::ContentError& error) {
    EXPECT_THAT(error.what(), HasSubstr(":5: epochs 4097: expected at most 4096"));
  }
}

TEST(StudyCell, KnowsTheSmallestBatchOfVariantsToo) {
  const auto cells = cells_of_text(
      "lr = 0.1 * k\n[grid]\nseed = 1\n[variant small]\nbatch-size = 64\n"
      "[variant large]\nbatch-size = 256\n[variant formula]\nbatch-size = 4 * base_batch\n");
  ASSERT_EQ(cells.size(), 3U);
  EXPECT_EQ(cells[0].option("lr"), "0.1");
  EXPECT_EQ(cells[1].option("lr"), "0.4");
  EXPECT_EQ(cells[2].option("lr"), "0.4");
}

TEST(StudyCell, KnowsWhatIsSaidByNobody) {
  const auto cell = cells_of_text("lr = 0.3\n[grid]\nbatch-size = 64\n")[0];
  EXPECT_EQ(cell.value("lr"), "0.3");
  EXPECT_EQ(cell.value("rule"), "linear");
  EXPECT_EQ(cell.value("trust"), "") << "SGD has none";
  EXPECT_FALSE(cell.trial_seconds);
}

TEST(StudyCell, MustHaveANameThatAFileCanHave) {
  const auto variant = [](std::size_t letters) {
    return "[grid]\nbatch-size = 64\n[variant " + std::string(letters, 'v') + "]\n";
  };
  EXPECT_EQ(cells_of_text(variant(234))[0].name.size(), 251U);
  EXPECT_THAT(complaint_about(variant(235)),
              AllOf(StartsWith(":6: the cell's name batch=64,variant=vvv"),
                    HasSubstr("... has 252 letters, expected at most 251")));
}

// What becomes of a trial's complaint, without the study's path.
template <class Error>
std::string complaint_of_trial(const std::string& complaint, const std::string& grid) {
  const TemporaryFile file(study_head + grid);
  const OptionTable train = train_table();
  std::string sentence;
  try {
    sentence = cells_of(read_study(file.path(), train), train,
                        [&](const runtime::RunOptions&) -> std::optional<double> {
                          throw Error(complaint);
                        })[0]
                   .why_not_tried;
  } catch (const data::ContentError& error) {
    sentence = error.what();
  }
  return sentence.starts_with(file.path()) ? sentence.substr(file.path().size()) : sentence;
}

TEST(StudyCell, IsTriedWithItsOptions) {
  const TemporaryFile file(study_head + "[grid]\nbatch-size = 64, 96\n");
  const OptionTable train = train_table();
  const auto cells = cells_of(read_study(file.path(), train), train,
                              [](const runtime::RunOptions& run) -> std::optional<double> {
                                return static_cast<double>(run.batch_size);
                              });
  EXPECT_EQ(cells[0].trial_seconds, 64);
  EXPECT_EQ(cells[1].trial_seconds, 96);
}

TEST(StudyCell, SaysWhereATrialsComplaintComesFrom) {
  EXPECT_EQ(complaint_of_trial<std::invalid_argument>("--batch-size 64: too large",
                                                      "[grid]\nbatch-size = 64\n"),
            ":7: --batch-size 64: too large (in the cell batch=64)");
  const std::string traces = "[grid]\nseed = 1\ntrace = a.csv\n";
  EXPECT_EQ(complaint_of_trial<data::MissingFileError>("a.csv: cannot open", traces),
            ":8: a.csv: cannot open (in the cell trace=a,seed=1)");
  const std::string test_data = "test-data = csv:b.csv,shape=1x8x8\n" + traces;
  EXPECT_EQ(complaint_of_trial<data::MissingFileError>("b.csv: cannot open", test_data),
            ":6: b.csv: cannot open (in the cell trace=a,seed=1)");
  EXPECT_EQ(complaint_of_trial<data::ContentError>("a.csv:3: row 2", traces),
            "a.csv:3: row 2 (in the cell trace=a,seed=1)")
      << "it has a place of its own";
}

}  // namespace
}  // namespace rubato::app
