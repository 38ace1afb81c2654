// Files that the writer would never make, with a checksum that is right: each is refused with a
// sentence that says why, at once, and without taking memory for what it merely declares.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "runtime/checkpoint.hpp"
#include "tests/runtime/hostile_checkpoint.hpp"

namespace rubato::runtime {
namespace {

using testing::HasSubstr;

void add_group(hid_t file, const char* path) {
  H5Gclose(require_id(H5Gcreate2(file, path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)));
}

void commit_type(hid_t file, const char* path) {
  const hid_t type = H5Tcopy(H5T_IEEE_F32LE);
  H5Tcommit2(file, path, type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Tclose(type);
}

hid_t text_of(std::size_t bytes) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, bytes);
  return type;
}

void set_version(hid_t file, std::uint64_t version) {
  const hid_t attribute = require_id(H5Aopen(file, "format_version", H5P_DEFAULT));
  H5Awrite(attribute, H5T_NATIVE_UINT64, &version);
  H5Aclose(attribute);
}

// A group that may hold more than the old format's object header.
void add_attributes(hid_t file, int count) {
  for (int i = 0; i < count; ++i) {
    add_attribute(file, "/elastic", std::to_string(i).c_str(), H5T_IEEE_F64LE);
  }
}

void link_many_times(hid_t file, int count) {
  for (int i = 0; i < count; ++i) {
    H5Lcreate_hard(file, "/model/fc.bias", file, ("/model/" + std::to_string(i)).c_str(),
                   H5P_DEFAULT, H5P_DEFAULT);
  }
}

std::vector<HostileCase> link_cases() {
  return {
      {"a soft link for a group",
       [](hid_t file) {
         H5Lmove(file, "/model", file, "/elsewhere", H5P_DEFAULT, H5P_DEFAULT);
         H5Lcreate_soft("/elsewhere", file, "/model", H5P_DEFAULT, H5P_DEFAULT);
         H5Ldelete(file, "/elsewhere", H5P_DEFAULT);
       },
       "/model: found a soft or external link"},
      {"a soft link for a tensor",
       [](hid_t file) {
         H5Lcreate_soft("/model/fc.bias", file, "/model/x", H5P_DEFAULT, H5P_DEFAULT);
       },
       "/model/x: found a soft or external link"},
      {"an external link in the last component",
       [](hid_t file) {
         H5Lcreate_external("/etc/hostname", "/x", file, "/model/x", H5P_DEFAULT, H5P_DEFAULT);
       },
       "/model/x: found a soft or external link"},
      {"an external link on the way",
       [](hid_t file) {
         H5Lcreate_external("/etc/hostname", "/", file, "/optimizer/x", H5P_DEFAULT, H5P_DEFAULT);
       },
       "/optimizer/x: found a soft or external link"},
      {"a group within itself",
       [](hid_t file) {
         H5Lcreate_hard(file, "/optimizer", file, "/optimizer/momentum/loop", H5P_DEFAULT,
                        H5P_DEFAULT);
       },
       "/optimizer/momentum/loop: found a group, expected a dataset"},
      {"a group in the model", [](hid_t file) { add_group(file, "/model/deeper"); },
       "/model/deeper: found a group, expected a dataset"},
      {"too many links", [](hid_t file) { link_many_times(file, 65536); },
       "found more than 65536 members of one object"},
      {"a name with a control character", [](hid_t file) { add_group(file, "/model/a\tb"); },
       "found the name \"a\\tb\", expected at most 255 printable letters"},
      {"a long name",
       [](hid_t file) { add_group(file, ("/model/" + std::string(300, 'a')).c_str()); },
       "expected at most 255 printable letters"},
  };
}

std::vector<HostileCase> scalar_type_cases() {
  const hid_t text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, H5T_VARIABLE);
  const auto attribute = [](const char* path, const char* name, hid_t type) {
    return [=](hid_t file) { replace_attribute(file, path, name, type); };
  };
  return {
      {"a type for a tensor", [](hid_t file) { commit_type(file, "/model/x"); },
       "/model/x: found another object, expected a dataset"},
      {"a type for a group",
       [](hid_t file) {
         H5Ldelete(file, "/elastic", H5P_DEFAULT);
         commit_type(file, "/elastic");
       },
       "/elastic: found another object, expected a group"},
      {"a text of variable length", attribute("/", "rule", text),
       "attribute \"rule\": found another type, expected text of fixed length"},
      {"a number for a text", attribute("/identity", "data", H5T_STD_U64LE),
       "attribute \"data\": found another type, expected text"},
      {"a signed cursor", attribute("/cursor", "update", H5T_STD_I64LE),
       "attribute \"update\": found another type, expected an unsigned 64-bit integer"},
      {"a fractional audit", attribute("/audit", "epoch", H5T_IEEE_F64LE),
       "attribute \"epoch\": found another type, expected an unsigned 64-bit integer"},
      {"a short number", attribute("/elastic", "progress", H5T_IEEE_F32LE),
       "attribute \"progress\": found another type, expected a 64-bit float"},
      {"a long exponent", attribute("/model/fc.bias", "exact_exponent", H5T_STD_I64LE),
       "attribute \"exact_exponent\": found another type, expected a 32-bit integer"},
      {"an array of numbers",
       [](hid_t file) { replace_attribute(file, "/cursor", "row", H5T_STD_U64LE, four); },
       "attribute \"row\": found an array, expected a single value"},
  };
}

std::vector<HostileCase> list_cases() {
  return {
      {"a newer version", [](hid_t file) { set_version(file, 3); },
       "found format version 3, this program reads version 2; use a newer program"},
      {"an older version", [](hid_t file) { set_version(file, 1); },
       "found format version 1, this program reads version 2"},
      {"a newer version with unknown parts",
       [](hid_t file) {
         set_version(file, 3);
         add_group(file, "/novelty");
       },
       "found format version 3"},
      {"another format", [](hid_t file) { replace_attribute(file, "/", "format", text_of(9)); },
       "attribute \"format\": found another name, expected rubato-checkpoint"},
      {"no format", [](hid_t file) { H5Adelete(file, "format"); }, "attribute \"format\""},
      {"an unknown group", [](hid_t file) { add_group(file, "/novelty"); }, "member \"novelty\""},
      {"no cursor", [](hid_t file) { H5Ldelete(file, "/cursor", H5P_DEFAULT); },
       "/cursor: not there"},
      {"an incomplete cursor",
       [](hid_t file) { H5Adelete_by_name(file, "/cursor", "epoch", H5P_DEFAULT); },
       "attribute \"epoch\""},
      {"an unknown field of the cursor",
       [](hid_t file) { add_attribute(file, "/cursor", "novelty", H5T_STD_U64LE); },
       "/cursor: attribute \"novelty\""},
      {"an unknown field of the audit",
       [](hid_t file) { add_attribute(file, "/audit", "novelty", H5T_STD_U64LE); },
       "/audit: attribute \"novelty\""},
      {"a dataset beside the elastic numbers",
       [](hid_t file) { add_dataset(file, "/elastic/x", H5T_IEEE_F32LE, four); },
       "/elastic: member \"x\""},
      {"an attribute of the model",
       [](hid_t file) { add_attribute(file, "/model", "x", H5T_STD_U64LE); },
       "/model: attribute \"x\""},
      {"an unknown attribute of a tensor",
       [](hid_t file) { add_attribute(file, "/model/fc.bias", "x", H5T_STD_U64LE); },
       "/model/fc.bias: attribute \"x\""},
      {"an exponent of optimizer state",
       [](hid_t file) {
         add_attribute(file, "/optimizer/momentum/fc.bias", "exact_exponent", H5T_STD_I32LE);
       },
       "/optimizer/momentum/fc.bias: attribute \"exact_exponent\""},
      {"too many attributes", [](hid_t file) { add_attributes(file, 4097); },
       "found more than 4096 attributes of one object"},
  };
}

TEST(HostileCheckpoint, AFileMerelyOpenedForChangeIsStillGood) {
  EXPECT_EQ(refusal_of_checkpoint(
                changed_checkpoint(encode_checkpoint(example_checkpoint()), [](hid_t) {})),
            "");
}

TEST(HostileCheckpoint, LinksThatLeadElsewhereAreRefused) {
  expect_checkpoints_refused(link_cases());
}
TEST(HostileCheckpoint, OtherTypesAreRefused) { expect_checkpoints_refused(scalar_type_cases()); }
TEST(HostileCheckpoint, WhatIsMissingOrUnknownIsNamed) { expect_checkpoints_refused(list_cases()); }

TEST(HostileCheckpoint, ATextOfMoreThan64KibibytesIsRefused) {
  // Only the newer format of attributes can hold it.
  const auto enlarge = [](hid_t file) {
    H5Ldelete(file, "/identity", H5P_DEFAULT);
    const hid_t properties = H5Pcreate(H5P_GROUP_CREATE);
    H5Pset_attr_phase_change(properties, 0, 0);
    H5Gclose(require_id(H5Gcreate2(file, "/identity", H5P_DEFAULT, properties, H5P_DEFAULT)));
    H5Pclose(properties);
    add_attribute(file, "/identity", "data", text_of(64 * 1024 + 1));
  };
  EXPECT_THAT(
      refusal_of_checkpoint(changed_checkpoint(encode_checkpoint(example_checkpoint()), enlarge)),
      HasSubstr("attribute \"data\": found another type, expected text of fixed length, at "
                "most 65536 bytes"));
}

TEST(HostileCheckpoint, WhatIsNoHdf5FileIsRefused) {
  EXPECT_THAT(refusal_of_checkpoint({}),
              HasSubstr("c.h5: not a checkpoint: its content: found no bytes"));
  const std::vector<std::byte> noise(5000, std::byte{'x'});
  EXPECT_THAT(refusal_of_checkpoint(noise), HasSubstr("its content: not a readable HDF5 file"));
  const std::vector<std::byte> valid = encode_checkpoint(example_checkpoint());
  for (std::size_t size = 0; size < valid.size(); size += 64) {
    EXPECT_NE(refusal_of_checkpoint(std::span(valid).first(size)), "") << size;
  }
}

}  // namespace
}  // namespace rubato::runtime
