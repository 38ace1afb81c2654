// Files written with plain HDF5 calls: good ones of every kind, and one wrong thing at a time.
#include "data/hdf5_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "data/errors.hpp"
#include "data/hdf5_handle.hpp"
#include "tests/data/float_values.hpp"
#include "tests/temporary_directory.hpp"
#include "thrown_message.hpp"

namespace rubato::data {
namespace {

using testing::HasSubstr;
using Sizes = std::vector<hsize_t>;

void write_dataset(hid_t group, const char* name, hid_t file_type, const Sizes& sizes,
                   hid_t memory_type, const void* values, hid_t creation = H5P_DEFAULT) {
  const hid_t space = H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr);
  const hid_t dataset =
      H5Dcreate2(group, name, file_type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  ASSERT_GE(dataset, 0);
  if (values != nullptr) {
    ASSERT_GE(H5Dwrite(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
  }
  H5Dclose(dataset);
  H5Sclose(space);
}

hid_t make_group(hid_t file, const char* name) {
  return H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
}

std::vector<float> counting(std::size_t size) {
  std::vector<float> values(size);
  std::iota(values.begin(), values.end(), 0.0F);
  return values;
}

void write_labels(hid_t group, std::vector<std::int64_t> labels) {
  write_dataset(group, "labels", H5T_STD_I64LE, {labels.size()}, H5T_NATIVE_INT64, labels.data());
}

void write_floats(hid_t group, const Sizes& sizes, hid_t type = H5T_IEEE_F32LE,
                  hid_t creation = H5P_DEFAULT) {
  const hsize_t count =
      std::accumulate(sizes.begin(), sizes.end(), hsize_t{1}, std::multiplies<>());
  write_dataset(group, "images", type, sizes, H5T_NATIVE_FLOAT, counting(count).data(), creation);
}

// The file in which `fill` wrote /train, read back.
Hdf5Samples samples_of(const std::function<void(hid_t file, hid_t train)>& fill) {
  silence_hdf5();
  const TemporaryDirectory directory;
  const auto path = directory.path() / "s.h5";
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t train = make_group(file, "train");
  fill(file, train);
  H5Gclose(train);
  H5Fclose(file);
  return read_hdf5(path);
}

std::string refusal_of_hdf5(const std::function<void(hid_t file, hid_t train)>& fill) {
  return thrown_message<ContentError>([&] { samples_of(fill); });
}

TEST(Hdf5Reader, ReadsFeaturesImagesAndChannels) {
  const auto features = samples_of([](hid_t, hid_t train) {
    write_floats(train, {2, 3});
    write_labels(train, {4, 0});
  });
  EXPECT_EQ(features.train.shape, (SampleShape{1, 1, 3}));
  EXPECT_EQ(float_values(features.train), counting(6));
  EXPECT_EQ(features.train.labels, (std::vector<std::int32_t>{4, 0}));
  EXPECT_FALSE(features.test);

  const auto images = samples_of([](hid_t, hid_t train) {
    write_floats(train, {1, 2, 3}, H5T_IEEE_F64BE);
    write_labels(train, {1});
  });
  EXPECT_EQ(images.train.shape, (SampleShape{2, 3, 1}));
  EXPECT_EQ(float_values(images.train), counting(6));

  const auto channels = samples_of([](hid_t, hid_t train) {
    write_floats(train, {1, 2, 1, 3});
    write_labels(train, {1});
  });
  EXPECT_EQ(channels.train.shape, (SampleShape{1, 3, 2}));
  EXPECT_EQ(float_values(channels.train), (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

TEST(Hdf5Reader, KeepsBytesAsBytesAndReadsATestSet) {
  const auto samples = samples_of([](hid_t file, hid_t train) {
    const std::vector<std::uint8_t> pixels = {0, 100, 200, 255};
    write_dataset(train, "images", H5T_STD_U8LE, {1, 2, 2}, H5T_NATIVE_UINT8, pixels.data());
    write_labels(train, {2});
    const hid_t test = make_group(file, "test");
    write_dataset(test, "images", H5T_STD_U8LE, {1, 2, 2}, H5T_NATIVE_UINT8, pixels.data());
    const std::uint8_t label = 9;
    write_dataset(test, "labels", H5T_STD_U8LE, {1}, H5T_NATIVE_UINT8, &label);
    H5Gclose(test);
  });
  EXPECT_EQ(std::get<std::vector<std::uint8_t>>(samples.train.values),
            (std::vector<std::uint8_t>{0, 100, 200, 255}));
  ASSERT_TRUE(samples.test);
  EXPECT_EQ(samples.test->labels, (std::vector<std::int32_t>{9}));
}

TEST(Hdf5Reader, ReadsChunksThroughTheFiltersItKnows) {
  const auto samples = samples_of([](hid_t, hid_t train) {
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    const Sizes chunk = {7, 4};
    H5Pset_chunk(creation, 2, chunk.data());
    H5Pset_shuffle(creation);
    H5Pset_deflate(creation, 6);
    H5Pset_fletcher32(creation);
    write_floats(train, {50, 10}, H5T_IEEE_F32LE, creation);
    H5Pclose(creation);
    write_labels(train, std::vector<std::int64_t>(50, 3));
  });
  EXPECT_EQ(float_values(samples.train), counting(500));
}

TEST(Hdf5Reader, RefusesWhatIsNotThere) {
  EXPECT_THAT(refusal_of_hdf5([](hid_t, hid_t train) {
                write_floats(train, {2, 3});
              }),
              HasSubstr("s.h5: /train/labels: not there"));
  EXPECT_THAT(refusal_of_hdf5([](hid_t file, hid_t) { H5Ldelete(file, "train", H5P_DEFAULT); }),
              HasSubstr("s.h5: /train: not there"));
}

TEST(Hdf5Reader, RefusesLinksThatLeadElsewhere) {
  EXPECT_THAT(
      refusal_of_hdf5([](hid_t file, hid_t train) {
        const hid_t hidden = make_group(file, "hidden");
        write_floats(hidden, {2, 3});
        H5Gclose(hidden);
        write_labels(train, {0, 1});
        H5Lcreate_soft("/hidden/images", train, "images", H5P_DEFAULT, H5P_DEFAULT);
      }),
      HasSubstr("/train/images: found a soft or external link, expected the object itself"));
  EXPECT_THAT(refusal_of_hdf5([](hid_t file, hid_t) {
                H5Ldelete(file, "train", H5P_DEFAULT);
                H5Lcreate_external("other.h5", "/train", file, "train", H5P_DEFAULT, H5P_DEFAULT);
              }),
              HasSubstr("/train: found a soft or external link"));
}

TEST(Hdf5Reader, RefusesExternalAndVirtualStorage) {
  const auto with_creation = [](const std::function<void(hid_t creation, hid_t space)>& prepare) {
    return refusal_of_hdf5([&](hid_t, hid_t train) {
      const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
      const Sizes sizes = {2, 3};
      const hid_t space = H5Screate_simple(2, sizes.data(), nullptr);
      prepare(creation, space);
      write_dataset(train, "images", H5T_IEEE_F32LE, sizes, H5T_NATIVE_FLOAT, nullptr, creation);
      write_labels(train, {0, 1});
      H5Sclose(space);
      H5Pclose(creation);
    });
  };
  EXPECT_THAT(with_creation([](hid_t creation, hid_t) {
                H5Pset_external(creation, "/etc/passwd", 0, H5F_UNLIMITED);
              }),
              HasSubstr("/train/images: found external storage"));
  EXPECT_THAT(with_creation([](hid_t creation, hid_t space) {
                H5Pset_virtual(creation, space, "other.h5", "/x", space);
              }),
              HasSubstr("/train/images: found virtual storage"));
}

TEST(Hdf5Reader, RefusesOtherFiltersAndTypes) {
  EXPECT_THAT(refusal_of_hdf5([](hid_t, hid_t train) {
                const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
                const Sizes chunk = {2, 3};
                H5Pset_chunk(creation, 2, chunk.data());
                H5Pset_scaleoffset(creation, H5Z_SO_FLOAT_DSCALE, 2);
                write_floats(train, {2, 3}, H5T_IEEE_F32LE, creation);
                H5Pclose(creation);
                write_labels(train, {0, 1});
              }),
              HasSubstr("/train/images: found filter 6, expected none but deflate"));
  EXPECT_THAT(refusal_of_hdf5([](hid_t, hid_t train) {
                write_floats(train, {2, 3}, H5T_STD_I16LE);
                write_labels(train, {0, 1});
              }),
              HasSubstr("/train/images: found another type, expected unsigned bytes or"));
  EXPECT_THAT(refusal_of_hdf5([](hid_t, hid_t train) {
                write_floats(train, {2, 3});
                const std::vector<float> labels = {0, 1};
                write_dataset(train, "labels", H5T_IEEE_F32LE, {2}, H5T_NATIVE_FLOAT,
                              labels.data());
              }),
              HasSubstr("/train/labels: found another type, expected integers"));
}

TEST(Hdf5Reader, RefusesSizesThatTheFileDoesNotHold) {
  EXPECT_THAT(
      refusal_of_hdf5([](hid_t, hid_t train) {  // 8.9 PiB promised, nothing written
        const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
        const Sizes chunk = {1, 16};
        H5Pset_chunk(creation, 2, chunk.data());
        write_dataset(train, "images", H5T_IEEE_F64LE, {hsize_t{1} << 30U, 1200000},
                      H5T_NATIVE_FLOAT, nullptr, creation);
        H5Pclose(creation);
        write_labels(train, {0});
      }),
      HasSubstr("/train/images: its header promises 10307921510400000 bytes, but 0 are stored"));
  EXPECT_THAT(
      refusal_of_hdf5([](hid_t, hid_t train) {
        write_dataset(train, "images", H5T_STD_U8LE, {1000, 1000}, H5T_NATIVE_UINT8, nullptr);
        write_labels(train, {0});
      }),
      HasSubstr("/train/images: its header promises 1000000 bytes, but 0 are stored"));
}

TEST(Hdf5Reader, RefusesWrongShapesLabelsAndValues) {
  const auto with = [](const Sizes& sizes, const std::vector<std::int64_t>& labels) {
    return refusal_of_hdf5([&](hid_t, hid_t train) {
      write_floats(train, sizes);
      write_labels(train, labels);
    });
  };
  EXPECT_THAT(with({3}, {0, 1, 2}), HasSubstr("found 1 dimension, expected [N,F]"));
  EXPECT_THAT(with({1, 1, 1, 1, 1}, {0}), HasSubstr("found 5 dimensions, expected 1 to 4"));
  EXPECT_THAT(with({2, 3}, {0, 1, 2}), HasSubstr("/train/labels: found 1 dimensions and 3 labels"));
  EXPECT_THAT(with({2, 3}, {0, -1}), HasSubstr("found label -1 of sample 1, expected 0 to 999999"));
  EXPECT_THAT(with({2, 3}, {0, 1000000}), HasSubstr("found label 1000000 of sample 1"));
  EXPECT_THAT(
      refusal_of_hdf5([](hid_t, hid_t train) {
        std::vector<float> values = counting(6);
        values[4] = std::numeric_limits<float>::quiet_NaN();
        write_dataset(train, "images", H5T_IEEE_F32LE, {2, 3}, H5T_NATIVE_FLOAT, values.data());
        write_labels(train, {0, 1});
      }),
      HasSubstr("/train/images: found a value that is not finite in sample 1"));
}

TEST(Hdf5Reader, RefusesFilesThatAreNotHdf5) {
  const TemporaryDirectory directory;
  const auto text = directory.write("t.h5", "batchsize\n64\n");
  EXPECT_THAT(thrown_message<ContentError>([&] { read_hdf5(text); }),
              HasSubstr(text.string() + ": not a readable HDF5 file"));
}

}  // namespace
}  // namespace rubato::data
