// A rank says how much it has, and is then heard when its turn has come.
#include "collectives/collect.hpp"

#include <array>
#include <cstdint>
#include <vector>

#include "collectives/point_to_point.hpp"

namespace rubato::collectives {

void collect(const Communicator& communicator, std::span<const std::byte> mine,
             const std::function<void(std::size_t, std::span<const std::byte>)>& visit) {
  if (communicator.rank() > 0) {
    const std::array size{static_cast<std::int64_t>(mine.size())};
    send(communicator, 0, std::span<const std::int64_t>(size));
    send(communicator, 0, mine);
    return;
  }
  visit(0, mine);
  std::vector<std::byte> bytes;
  for (std::size_t rank = 1; rank < communicator.size(); ++rank) {
    std::array<std::int64_t, 1> size{};
    receive(communicator, rank, std::span<std::int64_t>(size));
    bytes.resize(static_cast<std::size_t>(size[0]));
    receive(communicator, rank, std::span(bytes));
    visit(rank, bytes);
  }
}

}  // namespace rubato::collectives
