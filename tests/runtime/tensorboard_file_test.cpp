// Event files by their names, places and records; what the records say, an independent reader tells
// (tests/app/tensorboard_test.py).
#include "runtime/tensorboard_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "collectives/host_name.hpp"
#include "runtime/errors.hpp"
#include "runtime/record_frame.hpp"
#include "tests/runtime/small_disk.hpp"
#include "tests/temporary_directory.hpp"

namespace rubato::runtime {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::uint64_t now() {
  const auto time = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(time).count());
}

// The contents of records, each with its checksums.
std::vector<std::string> records_in(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string rest{std::istreambuf_iterator<char>(stream), {}};
  std::vector<std::string> records;
  while (rest.size() >= 16) {
    const std::size_t size = static_cast<unsigned char>(rest[0]) +
                             std::size_t{256} * static_cast<unsigned char>(rest[1]);
    records.push_back(rest.substr(12, size));
    EXPECT_EQ(rest.substr(0, size + 16), framed(records.back()));
    rest.erase(0, size + 16);
  }
  EXPECT_EQ(rest, "");
  return records;
}

class TensorboardFileTest : public testing::Test {
 protected:
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(events)) found.push_back(entry);
    std::sort(found.begin(), found.end());
    return found;
  }
  void write(const std::string& name) const {
    std::filesystem::create_directories(events);
    std::ofstream(events / name) << "x";
  }
  static StepReport step(std::uint64_t update) {
    StepReport report;
    report.update = update;
    report.batch_size = 64;
    report.loss = std::numeric_limits<double>::quiet_NaN();
    report.seconds = 0.5;
    return report;
  }
  TemporaryDirectory directory;
  std::filesystem::path events = directory.path() / "run" / "tensorboard";
};

TEST_F(TensorboardFileTest, IsNamedByTimeAndHost) {
  const std::uint64_t before = now();
  const TensorboardFile file(events, 0);
  ASSERT_EQ(files().size(), 1U);
  const std::string name = files()[0].filename().string();
  const std::string host = "." + collectives::host_name();
  EXPECT_TRUE(name.starts_with("events.out.tfevents.")) << name;
  EXPECT_TRUE(name.ends_with(host)) << name;
  const std::uint64_t seconds = std::stoull(name.substr(20, 10));
  EXPECT_GE(seconds, before);
  EXPECT_LE(seconds, now());
}

TEST_F(TensorboardFileTest, ComesAfterThoseThatAreThereWhateverTheClockSays) {
  write("events.out.tfevents.4000000000.elsewhere");
  write("events.out.tfevents.no-number");
  write("zzz");
  const TensorboardFile second(events, 5);
  const TensorboardFile third(events, 9);
  const std::string host = collectives::host_name();
  EXPECT_THAT(files(), ElementsAre(events / "events.out.tfevents.4000000000.elsewhere",
                                   events / ("events.out.tfevents.4000000001." + host),
                                   events / ("events.out.tfevents.4000000002." + host),
                                   events / "events.out.tfevents.no-number", events / "zzz"));
}

TEST_F(TensorboardFileTest, HasARecordForTheVersionTheStartEachUpdateAndEachEvaluation) {
  {
    TensorboardFile file(events, 6);
    file.update(step(7));
    file.evaluation({.update = 7, .loss = 1, .accuracy = 0.5});
    file.end({});
    EXPECT_EQ(file.take_failure(), std::nullopt);
  }
  const auto records = records_in(files().at(0));
  ASSERT_EQ(records.size(), 4U);
  EXPECT_EQ(records[0].substr(9),
            "\x1a\x0d"
            "brain.Event:2");  // 9 bytes of time, then field 3
  EXPECT_EQ(records[1].substr(9), std::string("\x10\x07\x3a\x02\x08\x01"));  // step 7, START
  for (const char* const tag : {"loss", "accuracy", "batch_size", "learning_rate", "gain",
                                "noise_scale", "efficiency", "samples_per_second"}) {
    EXPECT_THAT(records[2], HasSubstr(std::string("train/") + tag));
  }
  EXPECT_THAT(records[3], AllOf(HasSubstr("test/loss"), HasSubstr("test/accuracy")));
}

TEST_F(TensorboardFileTest, AfterAFullDiskNoRecordIsMissingOrTorn) {
  {
    TensorboardFile file(events, 0);
    {
      const SmallDisk disk(200);  // within the first update
      file.update(step(1));
      file.update(step(2));
      EXPECT_THAT(file.take_failure().value(),
                  AllOf(HasSubstr("cannot write " + files().at(0).string()),
                        HasSubstr("its records are kept in memory until there is room")));
      try {
        file.end({});
        FAIL() << "end() did not throw";
      } catch (const WriteError& error) {
        EXPECT_THAT(error.what(), HasSubstr("2 records are missing in it"));
      }
    }
    file.end({});
  }
  EXPECT_EQ(records_in(files().at(0)).size(), 4U);
}

TEST_F(TensorboardFileTest, CannotBeWhereAnotherFileIs) {
  std::filesystem::create_directories(events.parent_path());
  std::ofstream(events) << "x";
  EXPECT_THROW(TensorboardFile(events, 0), OutputError);
}

TEST_F(TensorboardFileTest, AreRemovedAndWhatIsNotTheirsStays) {
  EXPECT_NO_THROW(remove_event_files(events));
  write("events.out.tfevents.1.a");
  write("notes");
  remove_event_files(events);
  EXPECT_THAT(files(), ElementsAre(events / "notes"));
  std::filesystem::remove(events / "notes");
  write("events.out.tfevents.1.a");
  remove_event_files(events);
  EXPECT_FALSE(std::filesystem::exists(events));
}

}  // namespace
}  // namespace rubato::runtime
