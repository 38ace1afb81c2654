// SHA-256 of a sequence of bytes, through OpenSSL.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace rubato::runtime {

class Sha256 {
 public:
  Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  ~Sha256();

  void add(std::span<const std::byte> bytes);
  std::string hexadecimal();  // of all that was added; call once

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

std::string sha256(std::span<const std::byte> bytes);

}  // namespace rubato::runtime
