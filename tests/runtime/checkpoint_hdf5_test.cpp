// The HDF5 operations of a checkpoint, against files made by raw HDF5 calls.
#include "runtime/checkpoint_hdf5.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rubato::runtime::hdf5 {
namespace {

using data::Hdf5Error;
using data::Hdf5Handle;
using data::Hdf5Image;
using testing::ElementsAre;
using testing::HasSubstr;

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
  const Hdf5Image image;
  const Hdf5Handle& file = image.file();
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
  const Hdf5Image image;
  const Hdf5Handle& file = image.file();
  write_text(file, "text", "word");
  EXPECT_THAT(refusal([&] { read_real(file, "absent"); }), HasSubstr("absent"));
  EXPECT_THAT(refusal([&] { read_real(file, "text"); }),
              HasSubstr("\"text\": found another type, expected a 64-bit float"));
}

TEST(CheckpointHdf5, NumbersAreStoredInTheTypesPromised) {
  const Hdf5Image image;
  const Hdf5Handle& file = image.file();
  write_unsigned(file, "unsigned", 1);
  write_integer(file, "integer", 1);
  write_real(file, "real", 1);
  const auto has_type = [&](const char* name, hid_t type) {
    const Hdf5Handle attribute(H5Aopen(file.id(), name, H5P_DEFAULT), H5Aclose, name);
    const Hdf5Handle found(H5Aget_type(attribute.id()), H5Tclose, name);
    return H5Tequal(found.id(), type) > 0;
  };
  EXPECT_TRUE(has_type("unsigned", H5T_STD_U64LE));
  EXPECT_TRUE(has_type("integer", H5T_STD_I32LE));
  EXPECT_TRUE(has_type("real", H5T_IEEE_F64LE));
}

TEST(CheckpointHdf5, MembersAreListedAndOpenedByTheirOwnName) {
  const Hdf5Image image;
  const Hdf5Handle& file = image.file();
  create_group(create_group(file, "b"), "inner");
  create_group(file, "a");
  EXPECT_THAT(member_names(file), ElementsAre("a", "b"));
  EXPECT_THAT(member_names(open_group(file, "b")), ElementsAre("inner"));
  EXPECT_TRUE(is_group(open_member(file, "a", "/a")));
  EXPECT_THAT(refusal([&] { open_group(file, "c"); }), HasSubstr("/c: not there"));
  H5Lcreate_soft("/a", file.id(), "soft", H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_THAT(refusal([&] { open_group(file, "soft"); }), HasSubstr("/soft: found a soft or"));
}

TEST(CheckpointHdf5, ATextTooLongForItsHeaderIsRefusedWhenWritten) {
  const Hdf5Image image;
  const Hdf5Handle& file = image.file();
  const std::string text(60'000, 'x');
  write_text(file, "long", text);
  EXPECT_EQ(read_text(file, "long"), text);
  EXPECT_THAT(refusal([&] { write_text(file, "longer", std::string(65'536, 'x')); }),
              HasSubstr("cannot create attribute \"longer\": "));
}

TEST(CheckpointHdf5, UnknownNamesAreNamed) {
  EXPECT_EQ(refusal([] { require_known({"a", "b"}, {"b", "a", "c"}, "member"); }), "");
  EXPECT_THAT(refusal([] {
                require_known({"a", "x"}, {"a"}, "member");
              }),
              HasSubstr("member \"x\": found where"));
}

}  // namespace
}  // namespace rubato::runtime::hdf5
