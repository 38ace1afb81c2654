#include "collectives/host_exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

#include "rank_pattern.hpp"

namespace rubato::collectives {
namespace {

// An exchange over all ranks of the job, as if each were a host, of addends with a closed sum.
template <class T>
class PatternExchange {
 public:
  PatternExchange(const Communicator& hosts, const Slice& slice)
      : hosts_(hosts), slice_(slice), exchange_(hosts, slice), results_(slice.end()) {
    visits_.resize(slice.end() / block_elements + 1);
  }

  void begin() {
    std::ranges::fill(visits_, 0);
    const auto finish = [this](std::size_t begin, std::span<const T> sums) {
      finished_ += sums.size();
      wrong_ += wrong_sums<T>(sums, hosts_.size(), begin);
      ++visits_[begin / block_elements];
      std::ranges::transform(sums, results_.begin() + static_cast<std::ptrdiff_t>(begin),
                             [](T sum) { return static_cast<float>(sum); });
    };
    const auto adopt = [this](std::size_t begin, std::span<const float> results) {
      wrong_ += wrong_sums<float>(results, hosts_.size(), begin);
      ++visits_[begin / block_elements];
    };
    exchange_.begin({finish, results_, adopt});
  }

  // With the addends from `ready_from` on.
  bool poll(std::size_t ready_from) {
    return exchange_.poll([=](const Slice& bucket) { return bucket.begin >= ready_from; },
                          [&](std::size_t begin, std::span<T> sums) {
                            EXPECT_GE(begin, ready_from);
                            for (std::size_t i = 0; i < sums.size(); ++i) {
                              sums[i] = pattern_value<T>(hosts_.rank(), begin + i);
                            }
                          });
  }
  bool is_done() const { return exchange_.is_done(); }
  void finish() {
    while (!is_done()) {
      if (!poll(0)) std::this_thread::yield();
    }
  }

  void expect_all_right() const {
    EXPECT_EQ(wrong_, 0);
    for (std::size_t begin = slice_.begin; begin < slice_.end(); begin += block_elements) {
      ASSERT_EQ(visits_[begin / block_elements], 1) << "block at " << begin;
    }
  }
  std::size_t finished() const { return finished_; }

 private:
  const Communicator& hosts_;
  Slice slice_;
  HostExchange<T> exchange_;
  std::vector<float> results_;
  std::vector<int> visits_;
  std::size_t wrong_ = 0;
  std::size_t finished_ = 0;
};

template <class T>
void expect_sums() {
  const Communicator world = Communicator::world();
  for (const Slice slice : {Slice{0, 0}, Slice{0, 1}, Slice{block_elements, 3 * block_elements + 5},
                            Slice{0, 300 * block_elements - 1}}) {
    SCOPED_TRACE(slice.size);
    PatternExchange<T> exchange(world, slice);
    EXPECT_TRUE(exchange.is_done());
    for (int round = 0; round < 3; ++round) {
      exchange.begin();
      exchange.finish();
      exchange.expect_all_right();
    }
  }
}

TEST(HostExchange, EveryHostGetsEveryBlockOnceAsDoubles) { expect_sums<double>(); }
TEST(HostExchange, EveryHostGetsEveryBlockOnceAsFloats) { expect_sums<float>(); }

TEST(HostExchange, TheWorkIsSharedOut) {
  const Communicator world = Communicator::world();
  const std::size_t count = 20 * world.size() * block_elements;
  PatternExchange<double> exchange(world, {count, count});
  exchange.begin();
  exchange.finish();
  EXPECT_EQ(exchange.finished(), count / world.size());
}

// Where that takes one step instead of two, and no link carries more.
TEST(HostExchange, EveryHostAddsUpShortBuckets) {
  const Communicator world = Communicator::world();
  // Two hosts make buckets of 2, 1 and 1 blocks, more hosts one of all but the first, shared out.
  const std::size_t hosts = world.size();
  const std::size_t blocks = hosts == 2 ? 4 : hosts;
  const std::size_t mine = hosts <= 2 ? blocks : (world.rank() + 1 < hosts ? 2 : 1);
  PatternExchange<float> exchange(world, {0, blocks * block_elements});
  exchange.begin();
  exchange.finish();
  exchange.expect_all_right();
  EXPECT_EQ(exchange.finished(), mine * block_elements);
}

// The sign of a zero may be lost on the way: then on all hosts, that of its own addend as well.
TEST(HostExchange, EveryHostAddsTheSameNumbersOfShortBuckets) {
  const Communicator world = Communicator::world();
  HostExchange<double> exchange(world, {0, 2});
  std::array<std::int64_t, 2> signs{};
  std::vector<float> results(2);
  exchange.begin({[&](std::size_t, std::span<const double> sums) {
                    signs = {std::signbit(sums[0]) ? 1 : 0, std::signbit(sums[0]) ? 0 : 1};
                  },
                  results});
  while (!exchange.is_done()) {
    exchange.poll([](const Slice&) { return true; },
                  [&](std::size_t, std::span<double> sums) {
                    sums[0] = -0.0;  // beside a float on the first host, and none on the others
                    sums[1] = world.rank() == 0 ? 1 : 1 + 0x1p-30;
                  });
  }
  world.maximum(signs);
  EXPECT_EQ(signs[0] + signs[1], 1);
}

// Hosts that come late, or in steps of their own, hold nobody up for ever and confuse nothing.
TEST(HostExchange, HostsMayBeReadyAtDifferentTimes) {
  const Communicator world = Communicator::world();
  constexpr std::size_t count = 200 * block_elements;
  PatternExchange<double> exchange(world, {0, count});
  for (std::size_t round = 0; round < 4; ++round) {
    exchange.begin();
    if ((world.rank() + round) % 2 == 0) std::this_thread::sleep_for(std::chrono::milliseconds{20});
    for (std::size_t from = count; from > 0; from -= std::min(from, 5000 * (world.rank() + 1))) {
      exchange.poll(from);
    }
    exchange.finish();
    exchange.expect_all_right();
  }
}

TEST(HostExchange, NothingIsSummedBeforeItIsReady) {
  const Communicator world = Communicator::world();
  PatternExchange<float> exchange(world, {0, 50 * block_elements});
  exchange.begin();
  EXPECT_FALSE(exchange.poll(50 * block_elements));
  EXPECT_FALSE(exchange.is_done());
  exchange.finish();
  exchange.expect_all_right();
}

}  // namespace
}  // namespace rubato::collectives
