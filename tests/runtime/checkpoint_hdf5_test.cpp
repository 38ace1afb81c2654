// The HDF5 operations of a checkpoint, against files made by raw HDF5 calls.
#include "runtime/checkpoint_hdf5.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rubato::runtime::hdf5 {
namespace {

using data::create_hdf5_image;
using data::Hdf5Error;
using data::Hdf5Handle;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class Attempt>
std::string refusal(const Attempt& attempt) {
  try {
    attempt();
  } catch (const Hdf5Error& error) {
    return error.what();
  }
  return {};
}

TEST(CheckpointHdf5, AttributesAreReadBackAsTheirType) {
  const Hdf5Handle file = create_hdf5_image();
  write_text(file, "text", "two\nlines");
  write_text(file, "empty", "");
  write_unsigned(file, "unsigned", 18446744073709551615U);
  write_integer(file, "integer", -126);
  write_real(file, "real", 0.1);
  EXPECT_EQ(read_text(file, "text"), "two\nlines");
  EXPECT_EQ(read_text(file, "empty"), "");
  EXPECT_EQ(read_unsigned(file, "unsigned"), 18446744073709551615U);
  EXPECT_EQ(read_integer(file, "integer"), -126);
  EXPECT_EQ(read_real(file, "real"), 0.1);
  EXPECT_THAT(attribute_names(file), ElementsAre("empty", "integer", "real", "text", "unsigned"));
  EXPECT_TRUE(has_attribute(file, "real"));
  EXPECT_FALSE(has_attribute(file, "reel"));
}

TEST(CheckpointHdf5, AMissingOrWrongAttributeIsNamed) {
  const Hdf5Handle file = create_hdf5_image();
  write_text(file, "text", "word");
  EXPECT_THAT(refusal([&] { read_real(file, "absent"); }), HasSubstr("absent"));
  EXPECT_THAT(refusal([&] { read_real(file, "text"); }), HasSubstr("text: not a single value"));
}

// The writer's layout is what raw HDF5 calls see: the C order of the shape, little-endian float32.
TEST(CheckpointHdf5, TensorsAreWrittenInPlainOrder) {
  const Hdf5Handle file = create_hdf5_image();
  const Hdf5Handle group = create_group(file, "model");
  write_tensor(group, {"w", {2, 3}, {1, 2, 3, 4, 5, 6}});
  const hid_t dataset = H5Dopen2(file.id(), "/model/w", H5P_DEFAULT);
  ASSERT_GE(dataset, 0);
  const hid_t space = H5Dget_space(dataset);
  hsize_t extents[2] = {};
  EXPECT_EQ(H5Sget_simple_extent_dims(space, extents, nullptr), 2);
  EXPECT_EQ(extents[0], 2U);
  EXPECT_EQ(extents[1], 3U);
  float values[6] = {};
  EXPECT_GE(H5Dread(dataset, H5T_IEEE_F32LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
  EXPECT_THAT(values, ElementsAre(1, 2, 3, 4, 5, 6));
  H5Sclose(space);
  H5Dclose(dataset);
}

TEST(CheckpointHdf5, TensorsAreFoundInGroupsTwoLevelsDeepAndNoDeeper) {
  const Hdf5Handle file = create_hdf5_image();
  const Hdf5Handle group = create_group(file, "optimizer");
  create_group(group, "momentum");
  write_tensor(group, {"momentum/w", {2}, {1, 2}});
  write_tensor(group, {"plain", {1}, {3}});
  const std::vector<NamedTensor> tensors = read_tensors(group);
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_EQ(tensors[0].name, "momentum/w");
  EXPECT_THAT(tensors[0].values, ElementsAre(1, 2));
  EXPECT_EQ(tensors[1].name, "plain");
  create_group(open_group(group, "momentum"), "deeper");
  EXPECT_THAT(refusal([&] { read_tensors(group); }), HasSubstr("momentum/deeper"));
}

TEST(CheckpointHdf5, SoftLinksAndOtherTypesAreRefused) {
  const Hdf5Handle file = create_hdf5_image();
  const Hdf5Handle group = create_group(file, "model");
  H5Lcreate_soft("/elsewhere", group.id(), "link", H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_THAT(refusal([&] { read_tensors(group); }), HasSubstr("only hard links"));

  const Hdf5Handle other = create_group(file, "other");
  const hsize_t extent = 4;
  const Hdf5Handle space(H5Screate_simple(1, &extent, nullptr), H5Sclose, "space");
  const Hdf5Handle dataset(H5Dcreate2(other.id(), "doubles", H5T_IEEE_F64LE, space.id(),
                                      H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                           H5Dclose, "dataset");
  EXPECT_THAT(refusal([&] { read_tensors(other); }), HasSubstr("doubles: not a float32 array"));
}

// A header may declare what the file does not hold; nothing is allocated by it.
TEST(CheckpointHdf5, AnAbsurdShapeIsRefusedBeforeMemoryIsTaken) {
  const Hdf5Handle file = create_hdf5_image();
  const Hdf5Handle group = create_group(file, "model");
  const hsize_t extents[2] = {hsize_t{1} << 40U, hsize_t{1} << 20U};
  const Hdf5Handle space(H5Screate_simple(2, extents, nullptr), H5Sclose, "space");
  const hsize_t chunk[2] = {1, 1024};
  const Hdf5Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "properties");
  H5Pset_chunk(properties.id(), 2, chunk);
  const Hdf5Handle dataset(H5Dcreate2(group.id(), "huge", H5T_IEEE_F32LE, space.id(), H5P_DEFAULT,
                                      properties.id(), H5P_DEFAULT),
                           H5Dclose, "dataset");
  EXPECT_THAT(refusal([&] { read_tensors(group); }), HasSubstr("huge: its shape does not fit"));
}

}  // namespace
}  // namespace rubato::runtime::hdf5
