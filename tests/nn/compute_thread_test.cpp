#include "nn/compute_thread.hpp"

#include <gtest/gtest.h>

#include <thread>

// Of the OpenMP runtime that oneDNN is linked to; not every compiler has its header.
extern "C" void omp_set_num_threads(int threads);
extern "C" int omp_get_max_threads();

namespace rubato::nn {
namespace {

TEST(ComputeThread, IsTheOnlyOneWhateverWasAskedBefore) {
  omp_set_num_threads(4);
  ASSERT_EQ(omp_get_max_threads(), 4);
  hold_to_one_thread();
  EXPECT_EQ(omp_get_max_threads(), 1);
}

TEST(ComputeThread, HoldsForTheCallingThread) {
  int threads = 0;
  std::thread([&] {
    omp_set_num_threads(3);
    hold_to_one_thread();
    threads = omp_get_max_threads();
  }).join();
  EXPECT_EQ(threads, 1);
}

}  // namespace
}  // namespace rubato::nn
