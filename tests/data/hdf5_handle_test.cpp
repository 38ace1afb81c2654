// Owning handles, errors with HDF5's own words, and images in memory.
#include "data/hdf5_handle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <type_traits>
#include <vector>

#include "thrown_message.hpp"

namespace rubato::data {
namespace {

using testing::HasSubstr;

static_assert(!std::is_copy_constructible_v<Hdf5Handle>);
static_assert(!std::is_copy_assignable_v<Hdf5Handle>);
static_assert(std::is_nothrow_move_constructible_v<Hdf5Handle>);
static_assert(std::is_nothrow_move_assignable_v<Hdf5Handle>);

hid_t new_space() { return H5Screate(H5S_SCALAR); }

TEST(Hdf5Handle, ClosesWhatItOwnsExactlyOnce) {
  const hid_t id = new_space();
  {
    Hdf5Handle first(id, H5Sclose, "space");
    Hdf5Handle second = std::move(first);
    EXPECT_EQ(second.id(), id);
    EXPECT_GT(H5Iis_valid(id), 0);
    Hdf5Handle third(new_space(), H5Sclose, "space");
    third = std::move(second);
    EXPECT_EQ(third.id(), id);
  }
  EXPECT_EQ(H5Iis_valid(id), 0);
}

TEST(Hdf5Handle, AFailedCallSaysWhatWasDoneAndHdf5sReason) {
  silence_hdf5();
  const std::string message = thrown_message<Hdf5Error>([] {
    const Hdf5Handle file(H5Fopen("/nonexistent.h5", H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose,
                          "opening a.h5");
  });
  EXPECT_THAT(message, HasSubstr("opening a.h5: "));
  EXPECT_THAT(message, HasSubstr("No such file or directory"));
  EXPECT_THAT(thrown_message<Hdf5Error>([] { check_hdf5(H5Sclose(H5I_INVALID_HID), "closing"); }),
              HasSubstr("closing: "));
  EXPECT_NO_THROW(check_hdf5(0, "nothing"));
}

TEST(Hdf5Handle, AnImageComesBackAsItWasWritten) {
  const std::array<int, 3> written = {5, -7, 11};
  Hdf5Image image;
  {
    const Hdf5Handle& file = image.file();
    const hsize_t size = written.size();
    const Hdf5Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose, "space");
    const Hdf5Handle dataset(H5Dcreate2(file.id(), "x", H5T_NATIVE_INT, space.id(), H5P_DEFAULT,
                                        H5P_DEFAULT, H5P_DEFAULT),
                             H5Dclose, "dataset");
    check_hdf5(
        H5Dwrite(dataset.id(), H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, written.data()),
        "writing");
  }
  const std::vector<std::byte> bytes = image.take_bytes();
  const std::string signature(reinterpret_cast<const char*>(bytes.data()), 4);
  EXPECT_EQ(signature, "\x89HDF");
  const Hdf5Handle file = open_hdf5_image(bytes, "image.h5");
  const Hdf5Handle dataset(H5Dopen2(file.id(), "x", H5P_DEFAULT), H5Dclose, "dataset");
  std::array<int, 3> read{};
  check_hdf5(H5Dread(dataset.id(), H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, read.data()),
             "reading");
  EXPECT_EQ(read, written);
}

TEST(Hdf5Handle, BytesThatAreNoHdf5FileAreNamed) {
  const std::vector<std::byte> bytes(100, std::byte{'x'});
  EXPECT_THAT(thrown_message<Hdf5Error>([&] { open_hdf5_image(bytes, "image.h5"); }),
              HasSubstr("image.h5: not a readable HDF5 file: "));
  EXPECT_THROW(open_hdf5_image({}, "empty.h5"), Hdf5Error);
}

// No copy: what is changed in the bytes is read from the file.
TEST(Hdf5Handle, AnImageIsReadWhereItLies) {
  Hdf5Image image(1U << 22U);
  const std::array<unsigned char, 4096> written{};
  haddr_t offset = 0;
  {
    const Hdf5Handle& file = image.file();
    const hsize_t size = written.size();
    const Hdf5Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose, "space");
    const Hdf5Handle dataset(
        H5Dcreate2(file.id(), "x", H5T_STD_U8LE, space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
        H5Dclose, "dataset");
    check_hdf5(H5Dwrite(dataset.id(), H5T_STD_U8LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, written.data()),
               "writing");
    offset = H5Dget_offset(dataset.id());
  }
  std::vector<std::byte> bytes = image.take_bytes();
  EXPECT_LT(bytes.size(), 16384U);  // the room made for it is not part of it
  const std::vector<std::byte> before = bytes;
  {
    const Hdf5Handle file = open_hdf5_image(bytes, "image.h5");
    const Hdf5Handle dataset(H5Dopen2(file.id(), "x", H5P_DEFAULT), H5Dclose, "dataset");
    bytes.at(offset + 7) = std::byte{42};
    std::array<unsigned char, 4096> read{};
    check_hdf5(H5Dread(dataset.id(), H5T_STD_U8LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, read.data()),
               "reading");
    EXPECT_EQ(read[7], 42);
  }
  bytes.at(offset + 7) = std::byte{0};
  EXPECT_EQ(bytes, before);  // and HDF5 has written nothing there
}

TEST(Hdf5Handle, TwoImagesMayBeOpenAtOnce) {
  const auto bytes = Hdf5Image().take_bytes();
  const Hdf5Handle second = open_hdf5_image(bytes, "second");
  const Hdf5Image third;
  EXPECT_NE(second.id(), third.file().id());
}

// Small expectations are met by growing, in memory that may move.
TEST(Hdf5Handle, AnImageGrowsBeyondWhatWasExpected) {
  const std::vector<int> written(3 << 20U, 7);
  Hdf5Image image(1000);
  {
    const hsize_t size = written.size();
    const Hdf5Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose, "space");
    for (const char* name : {"a", "b"}) {
      const Hdf5Handle dataset(H5Dcreate2(image.file().id(), name, H5T_NATIVE_INT, space.id(),
                                          H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                               H5Dclose, "dataset");
      check_hdf5(
          H5Dwrite(dataset.id(), H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, written.data()),
          "writing");
    }
  }
  const auto bytes = image.take_bytes();
  EXPECT_LT(bytes.size(), 2 * written.size() * sizeof(int) + 10'000);
  const Hdf5Handle file = open_hdf5_image(bytes, "image.h5");
  const Hdf5Handle dataset(H5Dopen2(file.id(), "b", H5P_DEFAULT), H5Dclose, "dataset");
  std::vector<int> read(written.size());
  check_hdf5(H5Dread(dataset.id(), H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, read.data()),
             "reading");
  EXPECT_EQ(read, written);
}

TEST(Hdf5Handle, KnowsTheLibrarysVersion) {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  H5get_libversion(&major, &minor, &release);
  EXPECT_EQ(hdf5_version(),
            std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release));
}

}  // namespace
}  // namespace rubato::data
