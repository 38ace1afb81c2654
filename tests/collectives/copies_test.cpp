// Both ways to copy to where other cores have read.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <span>

#include "collectives/streaming_copy.hpp"
#include "collectives/write_prefetch.hpp"

namespace rubato::collectives {
namespace {

template <class T, class Copy>
void expect_exact_copies(const Copy& copy) {
  std::array<T, 2100> source{};
  for (std::size_t i = 0; i < source.size(); ++i) {
    source[i] = static_cast<T>(i + 1);
  }
  for (std::size_t size = 0; size < source.size(); size += size < 70 ? 1 : 127) {
    alignas(64) std::array<T, source.size()> target{};
    copy(std::span<const T>(source).last(size), target.data());  // source: any alignment
    for (std::size_t i = 0; i < target.size(); ++i) {
      const T expected = i < size ? source[source.size() - size + i] : T{0};
      ASSERT_EQ(target[i], expected) << "element " << i << " of " << size;
    }
  }
}

template <class T>
void expect_exact_copies_both_ways() {
  expect_exact_copies<T>(streaming_copy<T>);
  expect_exact_copies<T>(copy_over<T>);
}

TEST(Copies, AreOfEveryElementAndNoMore) {
  expect_exact_copies_both_ways<float>();
  expect_exact_copies_both_ways<double>();
  expect_exact_copies_both_ways<std::int64_t>();
}

}  // namespace
}  // namespace rubato::collectives
