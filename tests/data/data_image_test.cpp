// What an image gives is what the files gave, to the bit; and whatever is not the image asked for
// gives nothing.
#include "data/data_image.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "data/errors.hpp"
#include "tests/temporary_directory.hpp"

namespace rubato::data {
namespace {

struct Content {
  std::vector<float> inputs;
  std::vector<std::int32_t> labels;
  bool operator==(const Content&) const = default;
};

Content content_of(const Dataset& dataset) {
  std::vector<std::uint64_t> indices(dataset.size());
  std::iota(indices.begin(), indices.end(), 0);
  Content content{std::vector<float>(dataset.size() * dataset.shape().size()),
                  std::vector<std::int32_t>(dataset.size())};
  dataset.read(indices, content.inputs, content.labels);
  return content;
}

void expect_equal(const Dataset& found, const Dataset& expected) {
  EXPECT_EQ(found.shape(), expected.shape());
  EXPECT_EQ(found.classes(), expected.classes());
  EXPECT_EQ(content_of(found), content_of(expected));
}

void expect_image_of(const DataOptions& options) {
  const DataImage image(options);
  const auto found = open_image(image.name(), options);
  ASSERT_TRUE(found) << image.name();
  const DataSource expected = open_data(options);
  EXPECT_EQ(found->name, expected.name);
  EXPECT_EQ(found->standardisation.scale, expected.standardisation.scale);
  EXPECT_EQ(found->standardisation.mean, expected.standardisation.mean);
  EXPECT_EQ(found->standardisation.deviation, expected.standardisation.deviation);
  expect_equal(*found->train, *expected.train);
  ASSERT_EQ(found->test == nullptr, expected.test == nullptr);
  if (expected.test) expect_equal(*found->test, *expected.test);
}

const std::string rows = "a,b,label\n1,2.5,0\n3,-4,1\n5,6,2\n7,8,0\n";

TEST(DataImage, GivesWhatTheFilesGave) {
  const TemporaryDirectory directory;
  const auto csv = "csv:" + directory.write("rows.csv", rows).string();
  expect_image_of({.spec = "digits"});              // bytes
  expect_image_of({.spec = csv});                   // floats, no test set
  expect_image_of({.spec = csv, .test_every = 2});  // a test set that was cut off
  expect_image_of({.spec = csv, .mean = {2, 3}, .deviation = {0.5F, 7}});
  expect_image_of({.spec = "synthetic:samples=40,shape=3x4x5,classes=7"});
}

TEST(DataImage, OutlivesItsFilesAndItsUsersOutliveIt) {
  const TemporaryDirectory directory;
  const auto file = directory.write("rows.csv", rows);
  const DataOptions options{.spec = "csv:" + file.string()};
  const auto expected = content_of(*open_data(options).train);
  std::optional<DataImage> image(options);
  const std::string name = image->name();
  std::filesystem::remove(file);
  const DataSource found = open_data(options, name);
  image.reset();
  EXPECT_EQ(content_of(*found.train), expected);
  EXPECT_FALSE(open_image(name, options)) << "it has ended";
  EXPECT_THROW(open_data(options, name), MissingFileError);
}

TEST(DataImage, IsOfOtherProcessesToo) {
  const DataOptions options{.spec = "digits"};
  const DataImage image(options);
  const int descriptor = std::stoi(image.name().substr(image.name().rfind('/') + 1));
  EXPECT_EQ(::fcntl(descriptor, F_GETFD), FD_CLOEXEC) << "programs that are started would keep it";
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(descriptor);  // its own copy
    try {
      ::_exit(open_image(image.name(), options) ? 0 : 1);
    } catch (...) {
      ::_exit(2);
    }
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(DataImage, IsOfItsOptionsAlone) {
  const TemporaryDirectory directory;
  const auto csv = "csv:" + directory.write("rows.csv", rows).string();
  const DataOptions options{.spec = csv, .test_every = 2, .mean = {2}};
  const DataImage image(options);
  ASSERT_TRUE(open_image(image.name(), options));
  EXPECT_FALSE(open_image(image.name(), {.spec = "digits", .test_every = 2, .mean = {2}}));
  EXPECT_FALSE(open_image(image.name(), {.spec = csv, .test_spec = csv, .mean = {2}}));
  EXPECT_FALSE(open_image(image.name(), {.spec = csv, .test_every = 3, .mean = {2}}));
  EXPECT_FALSE(open_image(image.name(), {.spec = csv, .test_every = 2, .mean = {2.0000002F}}));
  EXPECT_FALSE(open_image(image.name(), {.spec = csv, .test_every = 2, .deviation = {2}}));
  EXPECT_FALSE(open_image(image.name(),
                          {.spec = csv, .test_every = 2, .label_column = "label", .mean = {2}}));
  const auto former = std::filesystem::current_path();
  std::filesystem::current_path(directory.path());
  EXPECT_FALSE(open_image(image.name(), options)) << "a path may be another file's there";
  std::filesystem::current_path(former);
}

// A memory of the same name and content as an image, which stays open.
std::string unsealed_copy(const std::string& image) {
  std::ifstream in(image, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(in), {}};
  const int descriptor = ::memfd_create("rubato-data", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (::write(descriptor, content.data(), content.size()) != static_cast<ssize_t>(content.size())) {
    ADD_FAILURE() << "cannot write";
  }
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(descriptor);
}

TEST(DataImage, IsNothingElse) {
  const TemporaryDirectory directory;
  const DataOptions options{.spec = "digits"};
  const DataImage image(options);
  const DataImage other(options);
  const auto path = image.name().substr(0, image.name().find(' '));
  const auto word_of_other = other.name().substr(other.name().find(' '));
  EXPECT_FALSE(open_image(path + word_of_other, options)) << "another image in its place";
  EXPECT_FALSE(open_image(path, options));
  EXPECT_FALSE(open_image("", options));
  EXPECT_FALSE(open_image("/proc/none/fd/3 1", options));
  const auto word = image.name().substr(path.size());
  const auto copy = directory.path() / "copy";
  std::filesystem::copy_file(path, copy);
  EXPECT_FALSE(open_image(copy.string() + word, options)) << "a file, which others might change";
  const auto pipe = directory.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_FALSE(open_image(pipe.string() + word, options)) << "and nobody waits for a writer";
  EXPECT_FALSE(open_image(unsealed_copy(path) + word, options)) << "nor memory that they might";
  EXPECT_EQ(content_of(*open_data(options, "").train), content_of(*open_data(options).train));
}

TEST(DataImage, RefusesWhatCannotBeLoaded) {
  EXPECT_THROW(DataImage({.spec = "csv:nowhere.csv"}), MissingFileError);
}

}  // namespace
}  // namespace rubato::data
