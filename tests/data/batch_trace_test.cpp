// Reading a trace: what is accepted, and the one sentence for each thing that is not.
#include "data/batch_trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "data/errors.hpp"
#include "tests/data/refusal_of_trace.hpp"
#include "tests/temporary_directory.hpp"
#include "thrown_message.hpp"

namespace rubato::data {
namespace {

using testing::HasSubstr;

std::vector<std::uint64_t> sizes_of(const BatchTrace& trace) {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t row = 0; row < trace.rows(); ++row) sizes.push_back(trace.batch_size(row));
  return sizes;
}

TEST(BatchTrace, ReadsTheColumnBatchsizeAndIgnoresTheOthers) {
  const BatchTrace trace =
      BatchTrace::from_csv_text("step,batchsize,note\n0,64,a\n1,7,b\n2,2147483647,\n", "t.csv");
  EXPECT_EQ(sizes_of(trace), (std::vector<std::uint64_t>{64, 7, 2147483647}));
  EXPECT_EQ(trace.largest(), 2147483647U);
  EXPECT_FALSE(trace.is_endless());
  EXPECT_TRUE(trace.warnings().empty());
}

TEST(BatchTrace, AcceptsBlanksCommentsCarriageReturnsByteOrderMarkAndNoLastLineEnd) {
  const BatchTrace trace = BatchTrace::from_csv_text(
      "\xef\xbb\xbf# made by hand\r\nstep, batchsize \r\n0, 64\r\n# doubled\r\n1,\t128", "t.csv");
  EXPECT_EQ(sizes_of(trace), (std::vector<std::uint64_t>{64, 128}));
}

TEST(BatchTrace, SaysWhereARowStands) {
  const BatchTrace trace = BatchTrace::from_csv_text("batchsize\n# comment\n3\n4\n", "dir/t.csv");
  EXPECT_EQ(trace.where(0), "dir/t.csv:3 (row 0)");
  EXPECT_EQ(trace.where(1), "dir/t.csv:4 (row 1)");
  EXPECT_EQ(BatchTrace::from_rows({5, 6}).where(1), "trace (row 1)");
}

TEST(BatchTrace, WarnsOnceIfStepDoesNotCount) {
  const BatchTrace trace = BatchTrace::from_csv_text("step,batchsize\n0,8\n5,8\n7,8\n", "t.csv");
  ASSERT_EQ(trace.warnings().size(), 1U);
  EXPECT_THAT(
      trace.warnings()[0],
      HasSubstr("t.csv:3:1: found \"5\" in column step, where counting 0, 1, 2, ... gives 1"));
}

TEST(BatchTrace, RefusesWhatIsNoBatchSize) {
  const std::string least = " in column batchsize, expected a whole number of at least 1";
  const std::string most = " in column batchsize, expected a whole number of at most 2147483647";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"0", "\"0\"" + least},
      {"-32", "\"-32\"" + least},
      {"64.5", "\"64.5\"" + least},
      {"64.0", "\"64.0\"" + least},
      {"+64", "\"+64\"" + least},
      {"6 4", "\"6 4\"" + least},
      {"1e3", "\"1e3\"" + least},
      {"0x20", "\"0x20\"" + least},
      {"nan", "\"nan\"" + least},
      {"\x07", "\"\\x07\"" + least},
      {"", "nothing" + least},
      {"2147483648", "\"2147483648\"" + most},
      {"18446744073709551616", "\"18446744073709551616\"" + most},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_EQ(refusal_of_trace("step,batchsize\n0,64\n1, " + text + "\n"),
              "t.csv:3:"
              "4: found " +
                  message);
  }
}

TEST(BatchTrace, RefusesFilesThatAreNoTrace) {
  EXPECT_EQ(refusal_of_trace(""),
            "t.csv: the file is empty, expected a header with a column batchsize");
  EXPECT_EQ(refusal_of_trace("# only a comment\n"),
            "t.csv: the file is empty, expected a header with a column batchsize");
  EXPECT_EQ(refusal_of_trace("step,batch_size\n0,64\n"),
            "t.csv:1:1: found a header with \"step\", \"batch_size\", expected a comma-separated "
            "header with a column batchsize");
  EXPECT_EQ(refusal_of_trace("batchsize\n"),
            "t.csv:1: found a header and no row, expected at least one row");
  EXPECT_EQ(refusal_of_trace("batchsize,batchsize\n1,2\n"),
            "t.csv:1:11: found a second column \"batchsize\", expected one");
  EXPECT_EQ(refusal_of_trace("\"batchsize\"\n64\n"),
            "t.csv:1:1: found a quotation mark, expected plain fields without quotes");
  EXPECT_EQ(refusal_of_trace("batchsize\n64\n\n32\n"),
            "t.csv:3:1: found an empty line, expected a row with a batch size");
  EXPECT_EQ(refusal_of_trace("step,batchsize\n0,64\n1\n"),
            "t.csv:3:1: found 1 fields, expected 2 as in the header");
  EXPECT_EQ(refusal_of_trace("step,batchsize\n0,64,5\n"),
            "t.csv:2:1: found 3 fields, expected 2 as in the header");
  EXPECT_EQ(refusal_of_trace(std::string("batchsize\n6\0", 12) + "4\n"),
            "t.csv:2:2: found a NUL byte, expected text");
  EXPECT_THAT(refusal_of_trace("batchsize\n" + std::string(3U << 20U, '1')),
              HasSubstr("t.csv:2:1: found a line longer than 1 MiB"));
}

TEST(BatchTrace, RefusesMissingFilesDirectoriesAndBinaries) {
  const TemporaryDirectory directory;
  const auto missing = directory.path() / "none.csv";
  EXPECT_EQ(thrown_message<MissingFileError>([&] { BatchTrace::from_csv(missing); }),
            missing.string() + ": cannot open: No such file or directory");
  EXPECT_EQ(thrown_message<ContentError>([&] { BatchTrace::from_csv(directory.path()); }),
            directory.path().string() + ": found a directory, expected a file");
  const auto binary = directory.write("b.csv", std::string("\x89HDF\r\n\x1a\n\0\0", 10));
  EXPECT_THAT(thrown_message<ContentError>([&] { BatchTrace::from_csv(binary); }),
              HasSubstr(binary.string() + ":1:1: found a header with \"\\x89HDF\""));
  const auto good = directory.write("good.csv", "batchsize\n12\n");
  EXPECT_EQ(sizes_of(BatchTrace::from_csv(good)), (std::vector<std::uint64_t>{12}));
}

TEST(BatchTrace, FromRowsRefusesNoRowAndZero) {
  EXPECT_EQ(thrown_message<std::invalid_argument>([] { BatchTrace::from_rows({}); }),
            "trace: found no row, expected at least one batch size");
  EXPECT_EQ(thrown_message<std::invalid_argument>([] {
              BatchTrace::from_rows({8, 0});
            }),
            "trace: found batch size 0 in row 1, expected 1 to 2147483647");
  EXPECT_THROW(BatchTrace::constant(0), std::invalid_argument);
}

TEST(BatchTrace, ConstantHasNoEnd) {
  const BatchTrace trace = BatchTrace::constant(48);
  EXPECT_TRUE(trace.is_endless());
  EXPECT_EQ(trace.rows(), 1U);
  EXPECT_EQ(trace.batch_size(123456789), 48U);
  EXPECT_EQ(trace.where(7), "--batch-size");
}

TEST(BatchTrace, SparseHoldsWhatTheRowsSay) {
  const std::vector<TraceRow> rows{{0, 8, 4, 0}, {5, 16, 8, 1}, {6, 8, 8, 1}};
  const BatchTrace trace = BatchTrace::sparse(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(trace.row(i), rows[i]);
  EXPECT_EQ(trace.row_of(0), 0U);
  EXPECT_EQ(trace.row_of(4), 0U);
  EXPECT_EQ(trace.row_of(5), 1U);
  EXPECT_EQ(trace.row_of(6), 2U);
  EXPECT_EQ(trace.row_of(1'000'000), 2U);
}

TEST(BatchTrace, SparseRefusesRowsThatNoFileCouldHold) {
  const auto refused = [](std::vector<TraceRow> rows) {
    return !thrown_message<std::invalid_argument>([&] { BatchTrace::sparse(rows); }).empty();
  };
  EXPECT_TRUE(refused({}));
  EXPECT_TRUE(refused({{1, 8}}));
  EXPECT_TRUE(refused({{0, 8}, {0, 8}}));
  EXPECT_TRUE(refused({{0, 0}}));
  EXPECT_TRUE(refused({{0, 8, 4}, {1, 8}}));
  EXPECT_TRUE(refused({{0, 8, 4, 0}, {1, 8, 4}}));
  EXPECT_TRUE(refused({{0, 8, 4, 1}, {1, 8, 4, 0}}));
  EXPECT_TRUE(refused({{0, 8, std::uint64_t{1} << 31U}}));
}

TEST(BatchTrace, ReadsBackWhatItWrites) {
  for (const char* text :
       {"step,batchsize\n0,64\n1,7\n", "step,batchsize,minibatch\n0,64,8\n",
        "update,batchsize\n0,64\n9,7\n", "update,batchsize,minibatch,epoch\n0,64,8,0\n9,7,3,2\n"}) {
    EXPECT_EQ(BatchTrace::from_csv_text(text, "t.csv").as_csv(), text);
  }
}

}  // namespace
}  // namespace rubato::data
