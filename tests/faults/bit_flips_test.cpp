// A checkpoint on a disk that forgets: whatever bit changes, and wherever the file ends, it is seen
// by the checksum, before libhdf5 (which would not notice most of it) is given a byte.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "data/errors.hpp"
#include "runtime/checkpoint.hpp"
#include "runtime/committed_file.hpp"
#include "tests/runtime/example_state.hpp"
#include "tests/temporary_directory.hpp"

namespace rubato::runtime {
namespace {

std::string content_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

class BitFlips : public testing::Test {
 protected:
  BitFlips() {
    TrainingState state = example_state();
    state.model.push_back({"large", {64, 80}, std::vector<float>(5120, 0.125F)});
    write_checkpoint(file, {state, {{"data", "digits"}}, {}});
    bytes = read_checked_file(file);
    checksum = content_of(checksum_file_of(file));
  }

  bool is_seen_in_memory(std::span<const std::byte> changed) const {
    return is_refused([&] { require_checksum(file, changed, checksum); });
  }

  bool is_seen_on_disk() const {
    return is_refused([&] { read_checked_file(file); });
  }

  template <class Attempt>
  static bool is_refused(const Attempt& attempt) {
    try {
      attempt();
    } catch (const data::ContentError&) {
      return true;
    }
    return false;
  }

  TemporaryDirectory directory;
  std::filesystem::path file = directory.path() / "ckpt-12.h5";
  std::vector<std::byte> bytes;
  std::string checksum;
  std::mt19937 random{12345};
};

void flip(std::byte& byte, unsigned bit) { byte ^= std::byte{1} << bit; }

TEST_F(BitFlips, OneBitOfEveryByteAndEveryBitOfTheHeadersAreSeen) {
  constexpr std::size_t header_bytes = 2048;
  ASSERT_GE(bytes.size(), 20'000U);
  ASSERT_FALSE(is_seen_in_memory(bytes));
  std::size_t unseen = 0;
  const auto try_bit = [&](std::size_t place, unsigned bit) {
    flip(bytes[place], bit);
    if (!is_seen_in_memory(bytes)) ++unseen;
    flip(bytes[place], bit);
  };
  for (std::size_t place = 0; place < bytes.size(); ++place) {
    if (place >= header_bytes) try_bit(place, random() % 8);
    for (unsigned bit = 0; bit < 8 && place < header_bytes; ++bit) try_bit(place, bit);
  }
  EXPECT_EQ(unseen, 0U);
  EXPECT_FALSE(is_seen_in_memory(bytes));
}

TEST_F(BitFlips, EveryOtherLengthIsSeen) {
  std::vector<std::byte> longer = bytes;
  longer.resize(bytes.size() + 4096);
  for (std::size_t size = 0; size <= longer.size(); size += 64) {
    EXPECT_EQ(is_seen_in_memory(std::span(longer).first(size)), size != bytes.size()) << size;
  }
  EXPECT_TRUE(is_seen_in_memory(std::span(bytes).first(bytes.size() - 1)));
  EXPECT_TRUE(is_seen_in_memory(std::span(longer).first(bytes.size() + 1)));
}

TEST_F(BitFlips, TheSameHoldsOnDisk) {
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t place = random() % bytes.size();
    const auto write = [&] {
      std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
      stream.seekp(static_cast<std::streamoff>(place));
      stream.put(static_cast<char>(bytes[place]));
    };
    const unsigned bit = random() % 8;
    flip(bytes[place], bit);
    write();
    EXPECT_TRUE(is_seen_on_disk()) << place;
    flip(bytes[place], bit);
    write();
  }
  EXPECT_FALSE(is_seen_on_disk());
  for (std::size_t size = (bytes.size() - 1) / 64 * 64; size >= 640; size -= 640) {
    ASSERT_EQ(::truncate(file.c_str(), static_cast<off_t>(size)), 0);
    EXPECT_TRUE(is_seen_on_disk()) << size;
  }
}

TEST_F(BitFlips, EveryBitOfTheChecksumItselfIsSeen) {
  constexpr std::size_t digits = 64;
  for (std::size_t place = 0; place < digits * 8; ++place) {
    std::string changed = checksum;
    changed[place / 8] = static_cast<char>(changed[place / 8] ^ (1 << (place % 8)));
    EXPECT_TRUE(is_refused([&] { require_checksum(file, bytes, changed); })) << place;
  }
  for (std::size_t size = 0; size < digits; ++size) {
    EXPECT_TRUE(is_refused([&] { require_checksum(file, bytes, checksum.substr(0, size)); }));
  }
}

}  // namespace
}  // namespace rubato::runtime
