// Rank 0 visits the hosts in turn; a host's first rank tells the others there.
#include "collectives/clock_offset.hpp"

#include <array>
#include <chrono>
#include <limits>
#include <span>

#include "collectives/point_to_point.hpp"

namespace rubato::collectives {
namespace {

constexpr int tries = 32;

template <std::size_t size>
using Numbers = std::array<std::int64_t, size>;

template <std::size_t size>
void send(const Communicator& ranks, std::size_t to, const Numbers<size>& numbers) {
  send(ranks, to, std::span<const std::int64_t>(numbers));
}

template <std::size_t size>
Numbers<size> receive(const Communicator& ranks, std::size_t from) {
  Numbers<size> numbers{};
  receive(ranks, from, std::span<std::int64_t>(numbers));
  return numbers;
}

ClockOffset ask(const Communicator& across, std::size_t host, const NanosecondClock& clock) {
  ClockOffset best{.uncertainty = std::numeric_limits<std::int64_t>::max()};
  for (int i = 0; i < tries; ++i) {
    const std::int64_t asked = clock();
    send(across, host, Numbers<1>{});
    const std::int64_t answer = receive<1>(across, host)[0];
    const std::int64_t half_way = (clock() - asked) / 2;
    if (half_way < best.uncertainty) best = {answer - (asked + half_way), half_way};
  }
  return best;
}

void answer(const Communicator& across, const NanosecondClock& clock) {
  for (int i = 0; i < tries; ++i) {
    receive<1>(across, 0);
    send(across, 0, Numbers<1>{clock()});
  }
}

}  // namespace

std::int64_t steady_nanoseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

ClockOffset clock_offset(const Topology& topology, const NanosecondClock& clock) {
  Numbers<2> result{};
  if (topology.node().rank() == 0) {
    const Communicator& across = *topology.across();
    if (across.rank() == 0) {
      for (std::size_t host = 1; host < across.size(); ++host) {
        const ClockOffset offset = ask(across, host, clock);
        send(across, host, Numbers<2>{offset.nanoseconds, offset.uncertainty});
      }
    } else {
      answer(across, clock);
      result = receive<2>(across, 0);
    }
  }
  topology.node().broadcast(std::as_writable_bytes(std::span(result)), 0);
  return {result[0], result[1]};
}

}  // namespace rubato::collectives
