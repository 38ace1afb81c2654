// The ways to write where other cores have read, and to read what they have written.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <span>

#include "collectives/copy_over.hpp"
#include "collectives/loop_prefetch.hpp"
#include "collectives/streaming_copy.hpp"

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
void expect_exact_copies_all_ways() {
  expect_exact_copies<T>(streaming_copy<T>);
  expect_exact_copies<T>(copy_over<T>);
  expect_exact_copies<T>(prefetched_copy<T>);
}

TEST(Copies, AreOfEveryElementAndNoMore) {
  expect_exact_copies_all_ways<float>();
  expect_exact_copies_all_ways<double>();
  expect_exact_copies_all_ways<std::int64_t>();
}

TEST(ChangeOver, ChangesTheElementsAndNoMore) {
  constexpr std::size_t most = 1500;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{70}, most}) {
    std::array<float, most + 2> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<float>(i);
    const std::span<float> elements = std::span(all).subspan(1, size);
    change_over<most>(elements, [&](std::span<float> copy) {
      ASSERT_EQ(copy.size(), size);
      for (std::size_t i = 0; i < size; ++i) {
        copy[i] = 3 * copy[i] + 1;
        ASSERT_EQ(elements[i], static_cast<float>(i + 1)) << "before the change is whole";
      }
    });
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto was = static_cast<float>(i);
      ASSERT_EQ(all[i], i >= 1 && i <= size ? 3 * was + 1 : was) << "element " << i;
    }
  }
}

}  // namespace
}  // namespace rubato::collectives
