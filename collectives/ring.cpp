#include "collectives/ring.hpp"

#include <cstdint>
#include <vector>

#include "collectives/addend_sum.hpp"
#include "collectives/point_to_point.hpp"
#include "collectives/topology.hpp"

namespace rubato::collectives {

template <class T>
void ring_sum(const Communicator& ranks, std::span<T> data) {
  const std::size_t count = ranks.size();
  const std::size_t next = (ranks.rank() + 1) % count;
  const std::size_t previous = (ranks.rank() + count - 1) % count;
  // The part `behind` places behind this rank, around the ring.
  const auto part = [&](std::size_t behind) {
    const Slice slice =
        slice_of(data.size(), (ranks.rank() + 2 * count - behind) % count, count, /*grain=*/1);
    return data.subspan(slice.begin, slice.size);
  };

  std::vector<T> received(slice_of(data.size(), 0, count, /*grain=*/1).size);
  for (std::size_t step = 0; step + 1 < count; ++step) {
    const std::span<T> sum = part(step + 1);
    const std::span<T> addend = std::span(received).first(sum.size());
    exchange<T>(ranks, next, part(step), previous, addend);
    add_to(sum.data(), addend.data(), sum.size());
  }
  for (std::size_t step = 0; step + 1 < count; ++step) {
    exchange<T>(ranks, next, part(step + count - 1), previous, part(step));
  }
}

template void ring_sum(const Communicator&, std::span<float>);
template void ring_sum(const Communicator&, std::span<double>);
template void ring_sum(const Communicator&, std::span<std::int64_t>);

}  // namespace rubato::collectives
