// Loops over arrays that are fetched ahead.
#include "collectives/loop_prefetch.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace rubato::collectives {
namespace {

template <class T>
void expect_each_element_once_and_in_order() {
  for (std::size_t size : {0U, 1U, 15U, 31U, 32U, 33U, 64U, 100U, 1000U}) {
    std::vector<T> changed(size);
    std::vector<T> read(size);
    for (std::size_t i = 0; i < size; ++i) read[i] = static_cast<T>(i + 1);
    std::size_t next = 0;
    const auto use = [&](std::size_t begin, std::size_t count, T* to, const T* from) {
      ASSERT_EQ(begin, next) << "of " << size;
      ASSERT_GT(count, 0U);
      ASSERT_EQ(to, changed.data() + begin);
      ASSERT_EQ(from, read.data() + begin);
      for (std::size_t i = 0; i < count; ++i) to[i] += 2 * from[i];
      next = begin + count;
    };
    for_each_prefetched<T>(size, use, changed.data(), static_cast<const T*>(read.data()));
    ASSERT_EQ(next, size);
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(changed[i], static_cast<T>(2 * (i + 1)));
  }
}

TEST(LoopPrefetch, GivesEachElementOnceAndInOrder) {
  expect_each_element_once_and_in_order<float>();
  expect_each_element_once_and_in_order<double>();
}

}  // namespace
}  // namespace rubato::collectives
