// Whole files, and what is refused instead of waited on.
#include "data/file_bytes.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "data/errors.hpp"
#include "tests/temporary_directory.hpp"
#include "thrown_message.hpp"

namespace rubato::data {
namespace {

TEST(FileBytes, ReadsAFileUpToItsLimit) {
  const TemporaryDirectory directory;
  const auto file = directory.write("f", "abcdef");
  EXPECT_EQ(as_text(read_file(file, 6)), "abcdef");
  EXPECT_EQ(thrown_message<ContentError>([&] { read_file(file, 5); }),
            file.string() + ": found 6 bytes, expected at most 5");
  EXPECT_TRUE(read_file(directory.write("empty", ""), 5).empty());
}

TEST(FileBytes, RefusesAPipeWithoutWaiting) {
  const TemporaryDirectory directory;
  const auto pipe = directory.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(thrown_message<ContentError>([&] { read_file(pipe, 5); }),
            pipe.string() + ": found a pipe or device, expected a regular file");
  EXPECT_THROW(read_file("/dev/zero", 5), ContentError);
}

}  // namespace
}  // namespace rubato::data
