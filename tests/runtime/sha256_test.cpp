// Against the examples that NIST publishes with the standard (FIPS 180-4).
#include "runtime/sha256.hpp"

#include <gtest/gtest.h>

#include <string>

namespace rubato::runtime {
namespace {

std::string digest(const std::string& text) {
  return sha256(std::as_bytes(std::span<const char>(text)));
}

TEST(Sha256, KnownDigests) {
  EXPECT_EQ(digest(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digest(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesAddUpToTheWhole) {
  const std::string text = "ranks change the speed, never the result";
  Sha256 hash;
  hash.add(std::as_bytes(std::span<const char>(text.data(), 7)));
  hash.add(std::as_bytes(std::span<const char>(text.data() + 7, text.size() - 7)));
  EXPECT_EQ(hash.hexadecimal(), digest(text));
}

}  // namespace
}  // namespace rubato::runtime
