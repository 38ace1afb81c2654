#include "collectives/streaming_copy.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace rubato::collectives {
namespace {

template <class T>
void expect_exact_copies() {
  std::array<T, 70> source{};
  for (std::size_t i = 0; i < source.size(); ++i) {
    source[i] = static_cast<T>(i + 1);
  }
  for (std::size_t size = 0; size < source.size(); ++size) {
    alignas(64) std::array<T, 72> target{};
    streaming_copy(std::span<const T>(source).last(size), target.data());  // source: any alignment
    for (std::size_t i = 0; i < target.size(); ++i) {
      const T expected = i < size ? source[source.size() - size + i] : T{0};
      EXPECT_EQ(target[i], expected) << "element " << i << " of " << size;
    }
  }
}

TEST(StreamingCopy, CopiesEveryElementAndNoMore) {
  expect_exact_copies<float>();
  expect_exact_copies<double>();
  expect_exact_copies<std::int64_t>();
}

}  // namespace
}  // namespace rubato::collectives
