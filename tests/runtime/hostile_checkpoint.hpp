// Hostile checkpoints: a valid one changed by raw HDF5 calls, and what decoding says of it.
#pragma once

#include <hdf5.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <ctime>
#include <fstream>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "data/errors.hpp"
#include "runtime/checkpoint.hpp"
#include "tests/runtime/example_state.hpp"

namespace rubato::runtime {

inline constexpr std::array<hsize_t, 1> four{4};

inline hid_t require_id(hid_t id) {
  if (id < 0) throw std::logic_error("a raw HDF5 call failed");
  return id;
}

// The bytes after `change` was done to the file; any version of the format is open to it.
inline std::vector<std::byte> changed_checkpoint(std::span<const std::byte> bytes,
                                                 const std::function<void(hid_t)>& change) {
  static int count = 0;
  const hid_t access = require_id(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_fapl_core(access, 1U << 20U, /*backing_store=*/0);
  H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST);
  H5Pset_file_image(access, const_cast<std::byte*>(bytes.data()), bytes.size());
  const std::string name = "changed " + std::to_string(count++);
  const hid_t file = require_id(H5Fopen(name.c_str(), H5F_ACC_RDWR, access));
  change(file);
  H5Fflush(file, H5F_SCOPE_GLOBAL);
  std::vector<std::byte> result(static_cast<std::size_t>(H5Fget_file_image(file, nullptr, 0)));
  H5Fget_file_image(file, result.data(), result.size());
  H5Fclose(file);
  H5Pclose(access);
  return result;
}

// An attribute of the object at `path`, with one zero (or more, in an array) as its value.
inline void add_attribute(hid_t file, const char* path, const char* name, hid_t type,
                          std::span<const hsize_t> extents = {}) {
  const hid_t object = require_id(H5Oopen(file, path, H5P_DEFAULT));
  const hid_t space =
      require_id(extents.empty()
                     ? H5Screate(H5S_SCALAR)
                     : H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr));
  H5Aclose(require_id(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT)));
  H5Sclose(space);
  H5Oclose(object);
}

inline void replace_attribute(hid_t file, const char* path, const char* name, hid_t type,
                              std::span<const hsize_t> extents = {}) {
  H5Adelete_by_name(file, path, name, H5P_DEFAULT);
  add_attribute(file, path, name, type, extents);
}

// A dataset without values; `properties` may say how it is stored.
inline void add_dataset(
    hid_t file, const char* path, hid_t type, std::span<const hsize_t> extents,
    const std::function<void(hid_t)>& properties = [](hid_t) {}) {
  const hid_t creation = require_id(H5Pcreate(H5P_DATASET_CREATE));
  properties(creation);
  const hid_t space =
      require_id(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr));
  H5Dclose(require_id(H5Dcreate2(file, path, type, space, H5P_DEFAULT, creation, H5P_DEFAULT)));
  H5Sclose(space);
  H5Pclose(creation);
}

// The largest amount of memory that this process ever held, since it was last forgotten.
inline std::size_t peak_kibibytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::size_t kibibytes = 0;
    if (word == "VmHWM:" && status >> kibibytes) return kibibytes;
  }
  return 0;
}

inline void forget_peak() { std::ofstream("/proc/self/clear_refs") << 5; }

inline std::string refusal_of_checkpoint(std::span<const std::byte> bytes) {
  forget_peak();
  const std::size_t before = peak_kibibytes();
  const std::clock_t begin = std::clock();  // processor time: others may hold the cores
  std::string message;
  try {
    decode_checkpoint(bytes, "c.h5");
  } catch (const data::ContentError& error) {
    message = error.what();
  }
  EXPECT_LT(std::clock() - begin, CLOCKS_PER_SEC);
  EXPECT_LT(peak_kibibytes(), before + 64 * 1024);
  return message;
}

struct HostileCase {
  std::string name;
  std::function<void(hid_t)> change;
  std::string complaint;
};

inline Checkpoint example_checkpoint() {
  return {example_state(), {{"data", "digits"}}, {{"hosts", "a, b"}}};
}

inline void expect_checkpoints_refused(const std::vector<HostileCase>& cases) {
  const std::vector<std::byte> valid = encode_checkpoint(example_checkpoint());
  for (const HostileCase& one : cases) {
    SCOPED_TRACE(one.name);
    const std::string message = refusal_of_checkpoint(changed_checkpoint(valid, one.change));
    EXPECT_THAT(message, testing::HasSubstr("c.h5: not a checkpoint: "));
    EXPECT_THAT(message, testing::HasSubstr(one.complaint));
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
}

}  // namespace rubato::runtime
