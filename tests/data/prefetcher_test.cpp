// The thread's work against a plain loop, and its errors, its clearing and its end.
#include "data/prefetcher.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "thrown_message.hpp"

namespace rubato::data {
namespace {

// Sample i has the inputs i, i + 1000 and the label 2 i. May be slow, and may fail at one sample.
class CountingDataset final : public Dataset {
 public:
  explicit CountingDataset(std::uint64_t samples) : samples_(samples) {}
  std::size_t size() const override { return samples_; }
  SampleShape shape() const override { return {1, 1, 2}; }
  std::size_t classes() const override { return 2 * samples_; }
  void read(std::span<const std::uint64_t> indices, std::span<float> inputs,
            std::span<std::int32_t> labels) const override {
    ++reads;
    std::this_thread::sleep_for(delay);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      if (indices[i] == fails_at) {
        throw std::runtime_error("sample " + std::to_string(indices[i]) + " is broken");
      }
      inputs[2 * i] = static_cast<float>(indices[i]);
      inputs[2 * i + 1] = static_cast<float>(indices[i] + 1000);
      labels[i] = static_cast<std::int32_t>(2 * indices[i]);
    }
  }

  std::chrono::milliseconds delay{0};
  std::uint64_t fails_at = ~std::uint64_t{0};
  mutable std::atomic<int> reads = 0;

 private:
  std::uint64_t samples_;
};

std::vector<Minibatch> minibatches_of(std::uint64_t samples, std::uint64_t size,
                                      std::uint64_t epochs) {
  std::vector<Minibatch> all;
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
    for (std::uint64_t begin = 0; begin < samples; begin += size) {
      all.push_back({epoch, begin / size, begin, std::min(size, samples - begin)});
    }
  }
  return all;
}

void expect_samples(const LoadedMinibatch& loaded, OrderKind kind, std::uint64_t samples) {
  const Minibatch& minibatch = loaded.minibatch;
  std::vector<std::uint64_t> expected(minibatch.size);
  EpochOrder(kind, samples, 7, minibatch.epoch).read(minibatch.begin, expected);
  ASSERT_EQ(loaded.inputs.size(), 2 * minibatch.size);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(loaded.inputs.data()) % 64, 0U);
  ASSERT_EQ(loaded.labels.size(), minibatch.size);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(loaded.inputs[2 * i], static_cast<float>(expected[i]));
    EXPECT_EQ(loaded.inputs[2 * i + 1], static_cast<float>(expected[i] + 1000));
    EXPECT_EQ(loaded.labels[i], static_cast<std::int32_t>(2 * expected[i]));
  }
}

TEST(Prefetcher, DeliversAllRequestsInOrder) {
  for (const OrderKind kind : {OrderKind::torch, OrderKind::feistel}) {
    Prefetcher prefetcher(std::make_shared<CountingDataset>(103), kind, 7, 10);
    const auto minibatches = minibatches_of(103, 10, 4);
    prefetcher.request(std::span(minibatches).first(30));
    prefetcher.request(std::span(minibatches).subspan(30));
    for (const Minibatch& minibatch : minibatches) {
      const LoadedMinibatch loaded = prefetcher.next();
      EXPECT_EQ(loaded.minibatch, minibatch);
      expect_samples(loaded, kind, 103);
    }
  }
}

// Labels are numbers of samples here: what a minibatch holds is brought into their order.
TEST(Prefetcher, AugmentsSamplesWhateverTheirMinibatch) {
  constexpr SampleShape shape{5, 6, 1};
  const Standardisation plain{1, {0}, {1}};
  std::vector<float> values(23 * shape.size());
  std::iota(values.begin(), values.end(), 1.0F);
  std::vector<std::int32_t> labels(23);
  std::iota(labels.begin(), labels.end(), 0);
  const auto dataset = std::make_shared<InMemoryDataset>("test", shape, 23, values, labels, plain);
  std::vector<std::uint64_t> all(23);
  std::iota(all.begin(), all.end(), 0U);
  for (const std::uint64_t size : {1U, 7U, 23U}) {
    Prefetcher prefetcher(dataset, OrderKind::feistel, 7, size, CropFlip(shape, plain, 9));
    const auto minibatches = minibatches_of(23, size, 2);
    prefetcher.request(minibatches);
    for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
      std::vector<float> found(values.size());
      for (std::uint64_t i = 0; i < minibatches.size() / 2; ++i) {
        const LoadedMinibatch loaded = prefetcher.next();
        for (std::size_t k = 0; k < loaded.labels.size(); ++k) {
          const auto place = static_cast<std::size_t>(loaded.labels[k]) * shape.size();
          std::ranges::copy(loaded.inputs.subspan(k * shape.size(), shape.size()),
                            found.begin() + static_cast<std::ptrdiff_t>(place));
        }
      }
      std::vector<float> expected = values;
      CropFlip(shape, plain, 9).apply(epoch, all, expected);
      EXPECT_EQ(found, expected) << size << ", epoch " << epoch;
    }
  }
}

TEST(Prefetcher, WorksAheadOfTheCaller) {
  const auto dataset = std::make_shared<CountingDataset>(100);
  Prefetcher prefetcher(dataset, OrderKind::feistel, 7, 10);
  prefetcher.request(minibatches_of(100, 10, 1));
  for (int i = 0; i < 500 && dataset->reads < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(dataset->reads, 3);  // as many as there are buffers, and nobody has called next()
}

TEST(Prefetcher, WhatWasDeliveredStaysUntilTheNextCall) {
  Prefetcher prefetcher(std::make_shared<CountingDataset>(100), OrderKind::torch, 7, 10);
  prefetcher.request(minibatches_of(100, 10, 1));
  for (int i = 0; i < 10; ++i) {
    const LoadedMinibatch loaded = prefetcher.next();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    expect_samples(loaded, OrderKind::torch, 100);
  }
}

TEST(Prefetcher, ErrorsReachTheCallerInTheirPlaceAndTheRestFollows) {
  const auto dataset = std::make_shared<CountingDataset>(100);
  std::vector<std::uint64_t> order(100);
  EpochOrder(OrderKind::torch, 100, 7, 0).read(0, order);
  dataset->fails_at = order[25];
  Prefetcher prefetcher(dataset, OrderKind::torch, 7, 10);
  prefetcher.request(minibatches_of(100, 10, 1));
  for (std::uint64_t index = 0; index < 10; ++index) {
    if (index == 2) {
      EXPECT_EQ(thrown_message<std::runtime_error>([&] { prefetcher.next(); }),
                "sample " + std::to_string(order[25]) + " is broken");
    } else {
      EXPECT_EQ(prefetcher.next().minibatch.index, index);
    }
  }
  EXPECT_THROW(prefetcher.next(), std::logic_error);
}

TEST(Prefetcher, ClearForgetsWhatIsWaitingReadyAndBeingFilled) {
  const auto dataset = std::make_shared<CountingDataset>(100);
  dataset->delay = std::chrono::milliseconds(2);
  Prefetcher prefetcher(dataset, OrderKind::torch, 7, 10);
  const auto first = minibatches_of(100, 10, 1);
  for (int round = 0; round < 40; ++round) {
    prefetcher.request(first);
    if (round % 3 != 0) expect_samples(prefetcher.next(), OrderKind::torch, 100);
    std::this_thread::sleep_for(std::chrono::microseconds(311 * (round % 20)));
    prefetcher.clear();
    const Minibatch wanted{static_cast<std::uint64_t>(round), 3, 30, 7};
    prefetcher.request({&wanted, 1});
    const LoadedMinibatch loaded = prefetcher.next();
    EXPECT_EQ(loaded.minibatch, wanted);
    expect_samples(loaded, OrderKind::torch, 100);
    EXPECT_THROW(prefetcher.next(), std::logic_error);
  }
}

TEST(Prefetcher, EndsWithWorkLeft) {
  const auto dataset = std::make_shared<CountingDataset>(100);
  dataset->delay = std::chrono::milliseconds(1);
  for (int i = 0; i < 20; ++i) {
    Prefetcher prefetcher(dataset, OrderKind::torch, 7, 10);
    prefetcher.request(minibatches_of(100, 10, 1));
    if (i % 2 == 0) prefetcher.next();
  }
}

TEST(Prefetcher, RefusesAMinibatchLargerThanItsBuffers) {
  Prefetcher prefetcher(std::make_shared<CountingDataset>(100), OrderKind::torch, 7, 10);
  const Minibatch large{0, 0, 0, 11};
  EXPECT_EQ(thrown_message<std::invalid_argument>([&] {
              prefetcher.request({&large, 1});
            }),
            "prefetcher: found a minibatch of 11 samples, expected at most 10");
  EXPECT_EQ(thrown_message<std::logic_error>([&] { prefetcher.next(); }),
            "prefetcher: next() found nothing requested");
}

}  // namespace
}  // namespace rubato::data
