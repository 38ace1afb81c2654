// From a spec to data sets: every kind, the test sets, the standardisation, and the wrong specs.
#include "data/data_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>

#include "binary_content.hpp"
#include "data/errors.hpp"
#include "tests/temporary_directory.hpp"
#include "thrown_message.hpp"

namespace rubato::data {
namespace {

using testing::HasSubstr;

DataOptions spec(const std::string& text) {
  return {text, std::nullopt, std::nullopt, std::nullopt};
}

std::string wrong_option(const DataOptions& options) {
  return thrown_message<std::invalid_argument>([&] { open_data(options); });
}

std::vector<float> sample(const Dataset& dataset, std::uint64_t index) {
  std::vector<float> inputs(dataset.shape().size());
  std::vector<std::int32_t> label(1);
  dataset.read({&index, 1}, inputs, label);
  return inputs;
}

// Training images 2 x 2 of 0, 51, 102, ...; a test image of 255.
void write_mnist_like(const TemporaryDirectory& directory, const std::string& folder) {
  const std::string pixels("\x00\x33\x66\x99\xcc\xff\x00\x33", 8);
  directory.write(folder + "/train-images-idx3-ubyte", idx_content(8, {2, 2, 2}, pixels));
  directory.write(folder + "/train-labels-idx1-ubyte.gz", gzip(idx_content(8, {2}, "\x05\x02")));
  directory.write(folder + "/t10k-images-idx3-ubyte",
                  idx_content(8, {1, 2, 2}, "\xff\xff\xff\xff"));
  directory.write(folder + "/t10k-labels-idx1-ubyte", idx_content(8, {1}, "\x07"));
}

TEST(DataSource, DigitsAreBuiltIn) {
  const DataSource source = open_data(spec("digits"));
  EXPECT_EQ(source.train->size(), 1438U);
  EXPECT_EQ(source.test->size(), 359U);
  EXPECT_EQ(source.train->classes(), 10U);
  EXPECT_EQ(source.train->shape(), (SampleShape{8, 8, 1}));
  EXPECT_EQ(source.name, "digits");
  const auto first = sample(*source.train, 0);
  EXPECT_EQ(first[3], (13.0F * 0.0625F - source.standardisation.mean[0]) /
                          source.standardisation.deviation[0]);
}

TEST(DataSource, SyntheticObeysItsSettings) {
  const DataSource source = open_data(spec("synthetic:samples=40,shape=3x4x5,classes=7,seed=2"));
  EXPECT_EQ(source.train->size(), 40U);
  EXPECT_EQ(source.test->size(), 10U);
  EXPECT_EQ(source.train->classes(), 7U);
  EXPECT_EQ(source.train->shape(), (SampleShape{4, 5, 3}));
  EXPECT_EQ(source.standardisation.mean.size(), 3U);
}

TEST(DataSource, MnistHasItsUsualConstants) {
  const TemporaryDirectory directory;
  write_mnist_like(directory, "mnist");
  const DataSource source = open_data(spec("mnist:" + (directory.path() / "mnist").string()));
  EXPECT_EQ(source.standardisation.mean, (std::vector<float>{0.1307F}));
  EXPECT_EQ(source.standardisation.deviation, (std::vector<float>{0.3081F}));
  EXPECT_EQ(source.train->classes(), 10U);
  EXPECT_EQ(sample(*source.test, 0)[0], (255.0F * (1.0F / 255.0F) - 0.1307F) / 0.3081F);
}

TEST(DataSource, FashionMnistIsFoundWhereTheEnvironmentSays) {
  const TemporaryDirectory directory;
  write_mnist_like(directory, "fashion-mnist");
  setenv("RUBATO_DATA", directory.path().c_str(), 1);
  const DataSource source = open_data(spec("fashion-mnist"));
  unsetenv("RUBATO_DATA");
  EXPECT_EQ(source.train->size(), 2U);
  EXPECT_EQ(source.standardisation.mean, (std::vector<float>{0.2860F}));
}

TEST(DataSource, IdxMeasuresItsTrainingSetAndTestsWithThoseConstants) {
  const TemporaryDirectory directory;
  write_mnist_like(directory, "x");
  const DataSource source = open_data(spec("idx:" + (directory.path() / "x").string()));
  // 0 .2 .4 .6 .8 1 0 .2: mean 0.4, variance 0.12
  EXPECT_FLOAT_EQ(source.standardisation.mean[0], 0.4F);
  EXPECT_FLOAT_EQ(source.standardisation.deviation[0], 0.34641016F);
  EXPECT_EQ(source.train->classes(), 8U);  // the test set has a label 7
  EXPECT_FLOAT_EQ(sample(*source.test, 0)[0], 0.6F / 0.34641016F);
}

TEST(DataSource, Cifar10IsFoundInItsSubfolder) {
  const TemporaryDirectory directory;
  const std::string record = std::string(1, '\x04') + std::string(3072, '\x80');
  for (const char* name : {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4",
                           "data_batch_5", "test_batch"}) {
    directory.write(std::string("cifar-10-batches-bin/") + name + ".bin", record);
  }
  const DataSource source = open_data(spec("cifar10:" + directory.path().string()));
  EXPECT_EQ(source.train->size(), 5U);
  EXPECT_EQ(source.test->size(), 1U);
  EXPECT_EQ(source.standardisation.deviation, (std::vector<float>{0.2470F, 0.2435F, 0.2616F}));
}

TEST(DataSource, ConstantsThatAreGivenTakeThePlaceOfItsOwn) {
  const TemporaryDirectory directory;
  write_mnist_like(directory, "there");
  DataOptions options = spec("mnist:" + (directory.path() / "there").string());
  options.deviation = {0.25F};
  const DataSource source = open_data(options);
  EXPECT_EQ(source.standardisation.mean, std::vector<float>{0.1307F});
  EXPECT_EQ(sample(*source.train, 0)[1], (51.0F * (1.0F / 255.0F) - 0.1307F) / 0.25F);
  EXPECT_EQ(sample(*source.test, 0)[1], (255.0F * (1.0F / 255.0F) - 0.1307F) / 0.25F);
  options.mean = {1, 2};
  EXPECT_EQ(wrong_option(options),
            "data-mean: found 2 numbers, expected one, or one for each of the 1 channels");
  options = spec("synthetic:samples=8,shape=3x1x1,classes=2");
  options.mean = {1, 2, 3};
  options.deviation = {2};
  EXPECT_EQ(open_data(options).standardisation.mean, options.mean);
  EXPECT_EQ(open_data(options).standardisation.deviation, (std::vector<float>{2, 2, 2}));
}

TEST(DataSource, CsvWithoutTestSetSplitsOrTakesAnotherSource) {
  const TemporaryDirectory directory;
  const auto train = directory.write("train.csv", "0,0\n2,1\n4,2\n6,0\n");
  const auto test = directory.write("test.csv", "9,1\n");
  DataOptions options = spec("csv:" + train.string());
  EXPECT_EQ(open_data(options).test, nullptr);
  options.test_every = 2;
  const DataSource split = open_data(options);
  EXPECT_EQ(split.train->size(), 2U);                             // 0 and 4
  EXPECT_EQ(sample(*split.test, 0), (std::vector<float>{0.0F}));  // (2 - 2) / 2
  EXPECT_EQ(sample(*split.test, 1), (std::vector<float>{2.0F}));  // (6 - 2) / 2
  options.test_every.reset();
  options.test_spec = "csv:" + test.string();
  const DataSource other = open_data(options);
  EXPECT_EQ(other.train->size(), 4U);
  EXPECT_FLOAT_EQ(sample(*other.test, 0)[0], 6.0F / 2.2360680F);  // (9 - 3) / sqrt(5)
}

TEST(DataSource, ATestSourceOfAnotherShapeOrWithOtherClassesIsRefused) {
  const TemporaryDirectory directory;
  const auto train = directory.write("train.csv", "0,0\n2,1\n");
  const auto wide = directory.write("wide.csv", "0,0,0\n");
  const auto foreign = directory.write("foreign.csv", "0,2\n");
  DataOptions options = spec("csv:" + train.string());
  options.test_spec = "csv:" + wide.string();
  EXPECT_THAT(thrown_message<ContentError>([&] { open_data(options); }),
              HasSubstr("its samples have another shape"));
  options.test_spec = "csv:" + foreign.string();
  EXPECT_EQ(thrown_message<ContentError>([&] { open_data(options); }),
            foreign.string() + ": found label 2 of sample 0, expected 0 to 1");
}

TEST(DataSource, MissingFilesSayHowToGetThem) {
  setenv("HOME", "/nonexistent", 1);
  const auto missing = [](const std::string& text) {
    return thrown_message<MissingFileError>([&] { open_data(spec(text)); });
  };
  EXPECT_THAT(missing("fashion-mnist:/nonexistent"),
              HasSubstr("apt-get install dataset-fashion-mnist"));
  EXPECT_THAT(missing("mnist"),
              HasSubstr("data/mnist, /usr/share/datasets/mnist, "
                        "/nonexistent/.cache/rubato/mnist, /nonexistent/data/mnist"));
  EXPECT_THAT(missing("mnist"), HasSubstr("train-labels-idx1-ubyte"));
  EXPECT_THAT(missing("cifar10"), HasSubstr("cifar-10-binary.tar.gz"));
  EXPECT_THAT(missing("idx:/nonexistent"), HasSubstr("/nonexistent/train-images-idx3-ubyte[.gz]"));
  EXPECT_THAT(missing("csv:/nonexistent.csv"), HasSubstr("/nonexistent.csv: cannot open"));
  EXPECT_THAT(missing("hdf5:/nonexistent.h5"), HasSubstr("/nonexistent.h5: cannot open"));
}

TEST(DataSource, WrongSpecsAndOptionsAreNamed) {
  EXPECT_EQ(
      wrong_option(spec("minst")),
      "data: found \"minst\", expected one of digits, synthetic, mnist, fashion-mnist, cifar10, "
      "idx, csv, hdf5");
  EXPECT_THAT(wrong_option(spec("")), HasSubstr("data: found \"\", expected one of digits"));
  EXPECT_THAT(wrong_option(spec("digits:8")), HasSubstr("found \"8\" after digits"));
  EXPECT_THAT(wrong_option(spec("csv")), HasSubstr("found csv without a place"));
  EXPECT_THAT(wrong_option(spec("synthetic:sample=3")),
              HasSubstr("found \"sample=3\" after synthetic"));
  EXPECT_THAT(wrong_option(spec("synthetic:samples=-3")),
              HasSubstr("synthetic samples: found \"-3\""));
  EXPECT_EQ(wrong_option({"digits", std::nullopt, 5, std::nullopt}),
            "test-every: digits has a test set of its own");
  EXPECT_THAT(wrong_option({"digits", "digits", 5, std::nullopt}),
              HasSubstr("expected one of the two"));
  EXPECT_THAT(wrong_option({"digits", std::nullopt, std::nullopt, "7"}),
              HasSubstr("label-column: only csv has columns"));
}

TEST(DataSource, EachKindHasANameAndAHelpLineThatBeginsWithIt) {
  const auto names = data_spec_names();
  const auto lines = describe_data_specs();
  ASSERT_EQ(names.size(), lines.size());
  EXPECT_EQ(names.size(), 8U);
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_TRUE(lines[i].starts_with(names[i]));
}

}  // namespace
}  // namespace rubato::data
