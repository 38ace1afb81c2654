// See study_seed.hpp.
#include "app/study_seed.hpp"

#include <set>
#include <span>

#include "runtime/sha256.hpp"

namespace rubato::app {
namespace {

std::uint64_t block_of(const std::string& name) {
  constexpr std::size_t digits = 8;  // of 4 bits: more than the blocks have
  const auto digest = runtime::sha256(std::as_bytes(std::span(name)));
  return std::stoull(digest.substr(0, digits), nullptr, 16) % most_seeds;
}

}  // namespace

std::vector<std::uint64_t> spaced_seeds(const std::vector<std::string>& names) {
  std::vector<std::uint64_t> seeds;
  std::set<std::uint64_t> taken;
  for (const auto& name : names) {
    std::uint64_t block = block_of(name);
    while (!taken.insert(block).second) block = (block + 1) % most_seeds;
    seeds.push_back(block * most_epochs_of_a_seed);
  }
  return seeds;
}

}  // namespace rubato::app
