// OpenSSL's EVP interface, with its context owned and its errors turned into exceptions.
#include "runtime/sha256.hpp"

#include <openssl/evp.h>

#include <array>
#include <stdexcept>

namespace rubato::runtime {

namespace {

void require(int status) {
  if (status != 1) throw std::runtime_error("SHA-256: OpenSSL refused to compute it");
}

}  // namespace

struct Sha256::Context {
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> evp{EVP_MD_CTX_new(), EVP_MD_CTX_free};
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  require(EVP_DigestInit_ex(context_->evp.get(), EVP_sha256(), nullptr));
}

Sha256::~Sha256() = default;

void Sha256::add(std::span<const std::byte> bytes) {
  require(EVP_DigestUpdate(context_->evp.get(), bytes.data(), bytes.size()));
}

std::string Sha256::hexadecimal() {
  std::array<unsigned char, 32> digest{};
  require(EVP_DigestFinal_ex(context_->evp.get(), digest.data(), nullptr));
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (unsigned char byte : digest) {
    text += digits[byte >> 4U];
    text += digits[byte & 0xfU];
  }
  return text;
}

std::string sha256(std::span<const std::byte> bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.hexadecimal();
}

}  // namespace rubato::runtime
