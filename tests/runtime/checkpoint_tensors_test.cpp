// Tensors in a checkpoint: plain for any reader of HDF5; and read only if they are all there.
#include "runtime/checkpoint_tensors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/checkpoint.hpp"
#include "tests/runtime/hostile_checkpoint.hpp"

namespace rubato::runtime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::array<hsize_t, 2> absurd{hsize_t{1} << 40U, hsize_t{1} << 40U};
constexpr std::array<hsize_t, 2> huge{hsize_t{1} << 31U, hsize_t{1} << 20U};
constexpr std::array<hsize_t, 9> nine{1, 1, 1, 1, 1, 1, 1, 1, 1};

// The writer's layout is what raw HDF5 calls see: the C order of the shape, little-endian float32.
TEST(CheckpointTensors, AreWrittenInPlainOrder) {
  const data::Hdf5Image image;
  const data::Hdf5Handle& file = image.file();
  write_tensors(file, "model", {{"w", {2, 3}, {1, 2, 3, 4, 5, 6}}, {"s", {}, {7}}}, {{"w", -5}});
  const hid_t dataset = require_id(H5Dopen2(file.id(), "/model/w", H5P_DEFAULT));
  const hid_t space = H5Dget_space(dataset);
  std::array<hsize_t, 2> extents{};
  EXPECT_EQ(H5Sget_simple_extent_dims(space, extents.data(), nullptr), 2);
  EXPECT_THAT(extents, ElementsAre(2, 3));
  std::array<float, 6> values{};
  EXPECT_GE(H5Dread(dataset, H5T_IEEE_F32LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
  EXPECT_THAT(values, ElementsAre(1, 2, 3, 4, 5, 6));
  H5Sclose(space);
  H5Dclose(dataset);
  std::vector<NamedExponent> exponents;
  const auto tensors = TensorReader(100'000).read(file, "model", /*levels=*/1, &exponents);
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_EQ(tensors[0].name, "s");
  EXPECT_TRUE(tensors[0].shape.empty());
  EXPECT_THAT(tensors[0].values, ElementsAre(7));
  ASSERT_EQ(exponents.size(), 1U);
  EXPECT_EQ(exponents[0].name, "w");
  EXPECT_EQ(exponents[0].exponent, -5);
}

TEST(CheckpointTensors, AreFoundTwoLevelsDeepAndNoDeeper) {
  const data::Hdf5Image image;
  const data::Hdf5Handle& file = image.file();
  write_tensors(file, "optimizer", {{"momentum/w", {2}, {1, 2}}, {"plain", {1}, {3}}}, {});
  const auto read = [&](int levels) {
    return TensorReader(100'000).read(file, "optimizer", levels, nullptr);
  };
  const std::vector<NamedTensor> tensors = read(2);
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_EQ(tensors[0].name, "momentum/w");
  EXPECT_THAT(tensors[0].values, ElementsAre(1, 2));
  EXPECT_EQ(tensors[1].name, "plain");
  EXPECT_THROW(read(1), data::Hdf5Error);
}

void add_chunked(hid_t file, std::span<const hsize_t> extents) {
  add_dataset(file, "/model/x", H5T_IEEE_F32LE, extents, [&](hid_t properties) {
    const std::vector<hsize_t> chunk(extents.size(), 1);
    H5Pset_chunk(properties, static_cast<int>(chunk.size()), chunk.data());
  });
}

void add_deflated(hid_t file) {
  add_dataset(file, "/model/x", H5T_IEEE_F32LE, four, [](hid_t properties) {
    H5Pset_chunk(properties, 1, four.data());
    H5Pset_deflate(properties, 9);
  });
}

void add_virtual(hid_t file) {
  add_dataset(file, "/model/x", H5T_IEEE_F32LE, four, [](hid_t properties) {
    const hid_t space = H5Screate_simple(1, four.data(), nullptr);
    H5Pset_virtual(properties, space, "/etc/hostname", "/x", space);
    H5Sclose(space);
  });
}

void add_typed(hid_t file, hid_t type) { add_dataset(file, "/model/x", type, four); }

void add_null_dataset(hid_t file) {
  const hid_t space = H5Screate(H5S_NULL);
  H5Dclose(require_id(
      H5Dcreate2(file, "/model/x", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)));
  H5Sclose(space);
}

std::vector<HostileCase> storage_cases() {
  return {
      {"external storage",
       [](hid_t file) {
         add_dataset(file, "/model/x", H5T_IEEE_F32LE, four,
                     [](hid_t properties) { H5Pset_external(properties, "/etc/hostname", 0, 16); });
       },
       "/model/x: found external storage"},
      {"virtual storage", add_virtual, "/model/x: found chunked, compact or virtual storage"},
      {"chunks", [](hid_t file) { add_chunked(file, four); },
       "/model/x: found chunked, compact or virtual storage"},
      {"filters", add_deflated, "/model/x: found chunked, compact or virtual storage"},
      {"compact storage",
       [](hid_t file) {
         add_dataset(file, "/model/x", H5T_IEEE_F32LE, four,
                     [](hid_t properties) { H5Pset_layout(properties, H5D_COMPACT); });
       },
       "/model/x: found chunked, compact or virtual storage"},
      {"values that are not there",
       [](hid_t file) { add_dataset(file, "/model/x", H5T_IEEE_F32LE, huge); },
       "/model/x: its shape takes 9007199254740992 bytes, but 0 are stored"},
      {"more elements than can be counted", [](hid_t file) { add_chunked(file, absurd); },
       "/model/x: its shape has more elements than 64 bits can count"},
      {"nine dimensions", [](hid_t file) { add_dataset(file, "/model/x", H5T_IEEE_F32LE, nine); },
       "/model/x: found 9 dimensions, expected at most 8"},
      {"no dimensions and no value", add_null_dataset, "/model/x: found no dimensions"},
      {"an empty dimension",
       [](hid_t file) {
         add_dataset(file, "/model/x", H5T_IEEE_F32LE, std::array<hsize_t, 2>{4, 0});
       },
       "/model/x: found an empty dimension"},
  };
}

std::vector<HostileCase> tensor_type_cases() {
  const auto typed = [](hid_t type) { return [type](hid_t file) { add_typed(file, type); }; };
  const std::string complaint = "/model/x: found values of another type";
  const hid_t compound = H5Tcreate(H5T_COMPOUND, 4);
  H5Tinsert(compound, "x", 0, H5T_IEEE_F32LE);
  return {
      {"64-bit floats", typed(H5T_IEEE_F64LE), complaint},
      {"big-endian floats", typed(H5T_IEEE_F32BE), complaint},
      {"integers", typed(H5T_STD_I32LE), complaint},
      {"a compound", typed(compound), complaint},
      {"values of variable length", typed(H5Tvlen_create(H5T_IEEE_F32LE)), complaint},
      {"object references", typed(H5T_STD_REF_OBJ), complaint},
      {"region references", typed(H5T_STD_REF_DSETREG), complaint},
      {"an opaque type", typed(H5Tcreate(H5T_OPAQUE, 4)), complaint},
  };
}

TEST(CheckpointTensors, OfOtherStorageAreRefused) { expect_checkpoints_refused(storage_cases()); }
TEST(CheckpointTensors, OfOtherTypesAreRefused) { expect_checkpoints_refused(tensor_type_cases()); }

// The same values under many names: each tensor is within the file, all together are not.
TEST(CheckpointTensors, MayNotTakeMoreThanTheFileInAll) {
  Checkpoint checkpoint = example_checkpoint();
  checkpoint.state.model.push_back({"large", {64, 1024}, std::vector<float>(65536, 1)});
  const auto link_again = [](hid_t file) {
    H5Lcreate_hard(file, "/model/large", file, "/model/more", H5P_DEFAULT, H5P_DEFAULT);
  };
  EXPECT_THAT(refusal_of_checkpoint(changed_checkpoint(encode_checkpoint(checkpoint), link_again)),
              HasSubstr("/model/more: the tensors up to this one take more bytes than the file"));
}

void replace_number(std::vector<std::byte>& bytes, std::uint64_t old, std::uint64_t now) {
  std::size_t found = 0;
  for (std::size_t at = 0; at + sizeof(old) <= bytes.size(); ++at) {
    if (std::memcmp(&bytes[at], &old, sizeof(old)) != 0) continue;
    std::memcpy(&bytes[at], &now, sizeof(now));
    ++found;
  }
  EXPECT_GT(found, 0U);
}

// What no library would write: extent and storage size agree on values that cannot be there.
TEST(CheckpointTensors, BeyondTheEndOfTheFileAreRefused) {
  Checkpoint checkpoint = example_checkpoint();
  checkpoint.state.model.push_back({"odd", {4661}, std::vector<float>(4661, 1)});
  const std::uint64_t nearly_all = encode_checkpoint(checkpoint).size() / sizeof(float) - 100;
  for (const std::uint64_t elements : {nearly_all, 100 * nearly_all, std::uint64_t{1} << 41U}) {
    std::vector<std::byte> bytes = encode_checkpoint(checkpoint);
    replace_number(bytes, 4661, elements);
    replace_number(bytes, 4661 * sizeof(float), elements * sizeof(float));
    EXPECT_THAT(refusal_of_checkpoint(bytes),
                HasSubstr("/model/odd: its " + std::to_string(4 * elements) +
                          " bytes do not lie within the file's "));
  }
}

}  // namespace
}  // namespace rubato::runtime
