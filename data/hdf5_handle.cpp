// See hdf5_handle.hpp. Images live in HDF5's "core" driver without a backing file.
#include "data/hdf5_handle.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <new>
#include <utility>

namespace rubato::data {
namespace {

// The innermost record of HDF5's error stack that says something: the cause rather than the call
// that failed with it.
herr_t keep_first(unsigned, const H5E_error2_t* record, void* text) {
  if (record->desc != nullptr && *record->desc != '\0') {
    *static_cast<std::string*>(text) = record->desc;
    return 1;
  }
  return 0;
}

std::string hdf5_text() {
  std::string text;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &text);
  return text.empty() ? "HDF5 gives no reason" : text;
}

// HDF5 takes two open files of one name for the same file.
std::string fresh_name() {
  static std::atomic<unsigned> count = 0;
  return "image " + std::to_string(count++);
}

// The core driver takes memory in steps, each of which may move all that there is.
Hdf5Handle core_access(std::size_t growth_bytes) {
  silence_hdf5();
  Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "HDF5 file access");
  check_hdf5(H5Pset_fapl_core(access.id(), growth_bytes, /*backing_store=*/0), "HDF5 core driver");
  check_hdf5(H5Pset_libver_bounds(access.id(), H5F_LIBVER_EARLIEST, H5F_LIBVER_V18),
             "HDF5 format version");
  return access;
}

// HDF5 asks these functions for the memory of an image.
//
// Reading: left to itself it copies an image twice, once into the property list and once into the
// file. So it is given the image itself, "copies" it onto itself, and frees nothing. `user` is the
// image's address.
void* give_image(std::size_t, H5FD_file_image_op_t, void* user) { return user; }
void* keep_image(void* target, const void*, std::size_t, H5FD_file_image_op_t, void*) {
  return target;
}
void* refuse_growth(void*, std::size_t, H5FD_file_image_op_t, void*) { return nullptr; }
herr_t free_nothing(void*, H5FD_file_image_op_t, void*) { return 0; }
void* same_user(void* user) { return user; }
herr_t free_no_user(void*) { return 0; }

// Writing: `user` is the buffer. No exception may pass through HDF5, which takes null for failure.
void* resize_buffer(void*, std::size_t bytes, H5FD_file_image_op_t, void* user) {
  auto* buffer = static_cast<std::vector<std::byte>*>(user);
  try {
    buffer->resize(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  return buffer->data();
}
void* make_buffer(std::size_t bytes, H5FD_file_image_op_t operation, void* user) {
  return resize_buffer(nullptr, bytes, operation, user);
}
void* copy_bytes(void* target, const void* source, std::size_t bytes, H5FD_file_image_op_t, void*) {
  return std::memcpy(target, source, bytes);
}

Hdf5Handle create_in(std::vector<std::byte>& buffer, std::size_t growth_bytes) {
  const Hdf5Handle access = core_access(growth_bytes);
  H5FD_file_image_callbacks_t callbacks{make_buffer, copy_bytes,   resize_buffer, free_nothing,
                                        same_user,   free_no_user, &buffer};
  const std::string what = "creating an HDF5 image in memory";
  check_hdf5(H5Pset_file_image_callbacks(access.id(), &callbacks), what);
  return {H5Fcreate(fresh_name().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), H5Fclose, what};
}

void set_image(const Hdf5Handle& access, std::span<const std::byte> bytes,
               const std::string& what) {
  // The file is opened for reading: the signatures merely lack the const.
  auto* image = const_cast<std::byte*>(bytes.data());
  H5FD_file_image_callbacks_t callbacks{give_image, keep_image,   refuse_growth, free_nothing,
                                        same_user,  free_no_user, image};
  check_hdf5(H5Pset_file_image_callbacks(access.id(), &callbacks), what);
  check_hdf5(H5Pset_file_image(access.id(), image, bytes.size()), what);
}

constexpr std::size_t least_growth_bytes = std::size_t{1} << 20U;

}  // namespace

Hdf5Handle::Hdf5Handle(hid_t id, Close closer, const std::string& what) : id_(id), close_(closer) {
  if (id < 0) throw Hdf5Error(what + ": " + hdf5_text());
}

Hdf5Handle::Hdf5Handle(Hdf5Handle&& other) noexcept
    : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}

Hdf5Handle& Hdf5Handle::operator=(Hdf5Handle&& other) noexcept {
  std::swap(id_, other.id_);
  std::swap(close_, other.close_);
  return *this;
}

Hdf5Handle::~Hdf5Handle() {
  if (id_ >= 0) close_(id_);
}

void Hdf5Handle::close(const std::string& what) {
  check_hdf5(close_(std::exchange(id_, H5I_INVALID_HID)), what);
}

void check_hdf5(herr_t status, const std::string& what) {
  if (status < 0) throw Hdf5Error(what + ": " + hdf5_text());
}

std::string hdf5_version() {
  std::array<unsigned, 3> version{};
  check_hdf5(H5get_libversion(&version[0], &version[1], &version[2]), "HDF5 version");
  return std::to_string(version[0]) + "." + std::to_string(version[1]) + "." +
         std::to_string(version[2]);
}

void silence_hdf5() {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  H5PLset_loading_state(0);
}

Hdf5Image::Hdf5Image(std::size_t expected_bytes)
    : buffer_(std::make_unique<std::vector<std::byte>>()),
      file_(create_in(*buffer_, std::max(expected_bytes, least_growth_bytes))) {}

std::vector<std::byte> Hdf5Image::take_bytes() {
  check_hdf5(H5Fflush(file_.id(), H5F_SCOPE_GLOBAL), "flushing an HDF5 image");
  const ssize_t size = H5Fget_file_image(file_.id(), nullptr, 0);
  check_hdf5(size < 0 ? -1 : 0, "measuring an HDF5 image");
  file_.close("closing an HDF5 image");
  buffer_->resize(static_cast<std::size_t>(size));
  return std::move(*buffer_);
}

Hdf5Handle open_hdf5_image(std::span<const std::byte> bytes, const std::string& name) {
  const Hdf5Handle access = core_access(least_growth_bytes);
  if (bytes.empty()) throw Hdf5Error(name + ": found no bytes at all, expected an HDF5 file");
  set_image(access, bytes, name + ": handing over the file's bytes");
  return {H5Fopen(fresh_name().c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose,
          name + ": not a readable HDF5 file"};
}

}  // namespace rubato::data
