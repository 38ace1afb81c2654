// HDF5 without surprises: handles that close themselves, and errors as exceptions with HDF5's own
// words.
//
// Files are images in memory: we read a file's bytes ourselves and hand libhdf5 the buffer, and
// libhdf5 builds what we write ourselves. libhdf5 1.10.8 crashes on a full disk and never calls
// fsync.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace rubato::data {

class Hdf5Error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Owns an identifier and closes it with the function of its kind; move-only; closing in the
// destructor ignores errors.
class Hdf5Handle {
 public:
  using Close = herr_t (*)(hid_t);
  // Throws Hdf5Error "WHAT: HDF5's text" if id is negative. `what` says what was being done and to
  // which object.
  Hdf5Handle(hid_t id, Close close, const std::string& what);
  Hdf5Handle(Hdf5Handle&& other) noexcept;
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept;
  Hdf5Handle(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(const Hdf5Handle&) = delete;
  ~Hdf5Handle();
  hid_t id() const noexcept { return id_; }

 private:
  hid_t id_;
  Close close_;
};

void check_hdf5(herr_t status, const std::string& what);  // throws Hdf5Error if negative
std::string hdf5_version();                               // of the library in use
void silence_hdf5();  // HDF5 prints nothing and loads no plugin; called by the functions below

// An empty file in memory, to be filled; with room for `expected_bytes`, so that filling it that
// far moves nothing.
Hdf5Handle create_hdf5_image(std::size_t expected_bytes = 0);
std::vector<std::byte> hdf5_image_bytes(const Hdf5Handle& file);  // flushes, and copies the image

// Read-only, and on `bytes` themselves rather than on a copy: they must outlive the handle and all
// that is opened through it.
Hdf5Handle open_hdf5_image(std::span<const std::byte> bytes, const std::string& name);

}  // namespace rubato::data
