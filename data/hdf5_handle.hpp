// HDF5 without surprises: handles that close themselves, and errors as exceptions with HDF5's own
// words.
//
// Files are images in memory: we read a file's bytes ourselves and hand libhdf5 the buffer, and
// libhdf5 builds what we write ourselves. libhdf5 1.10.8 crashes on a full disk and never calls
// fsync.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <memory>
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
  Hdf5Handle(hid_t id, Close closer, const std::string& what);
  Hdf5Handle(Hdf5Handle&& other) noexcept;
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept;
  Hdf5Handle(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(const Hdf5Handle&) = delete;
  ~Hdf5Handle();
  void close(const std::string& what);  // throws Hdf5Error; it owns nothing then
  hid_t id() const noexcept { return id_; }

 private:
  hid_t id_;
  Close close_;
};

void check_hdf5(herr_t status, const std::string& what);  // throws Hdf5Error if negative
std::string hdf5_version();                               // of the library in use
void silence_hdf5();  // HDF5 prints nothing and loads no plugin; called by the functions below

// A new file in memory: HDF5 builds it in a buffer of ours, which take_bytes() hands over as it is.
// The buffer has room for `expected_bytes` from the beginning; beyond that it grows by moving.
class Hdf5Image {
 public:
  explicit Hdf5Image(std::size_t expected_bytes = 0);
  const Hdf5Handle& file() const noexcept { return file_; }
  // Closes the file, of which nothing else may be open; call once.
  std::vector<std::byte> take_bytes();

 private:
  std::unique_ptr<std::vector<std::byte>> buffer_;  // at one address, which HDF5 knows
  Hdf5Handle file_;
};

// Read-only, and on `bytes` themselves rather than on a copy: they must outlive the handle and all
// that is opened through it.
Hdf5Handle open_hdf5_image(std::span<const std::byte> bytes, const std::string& name);

}  // namespace rubato::data
