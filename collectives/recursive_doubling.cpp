// Of the first 2 * excess ranks the even ones stand aside and the odd ones act for them. Acting
// ranks are numbered 0, 1, ... up to the power of two. Both partners of a round add the same two
// numbers, so all ranks get the same bits.
#include "collectives/recursive_doubling.hpp"

#include <bit>
#include <cstdint>
#include <vector>

#include "collectives/addend_sum.hpp"
#include "collectives/point_to_point.hpp"

namespace rubato::collectives {
namespace {

// The rounds among the acting ranks; `rank_of` turns an acting number into a rank.
template <class T, class RankOf>
void sum_among_acting(const Communicator& ranks, std::size_t acting, std::size_t acting_count,
                      const RankOf& rank_of, std::span<T> data, std::span<T> received) {
  for (std::size_t bit = 1; bit < acting_count; bit *= 2) {
    const std::size_t partner = rank_of(acting ^ bit);
    exchange<T>(ranks, partner, data, partner, received);
    add_to(data.data(), received.data(), data.size());
  }
}

}  // namespace

template <class T>
void recursive_doubling_sum(const Communicator& ranks, std::span<T> data) {
  const std::size_t acting_count = std::bit_floor(ranks.size());
  const std::size_t excess = ranks.size() - acting_count;
  const auto rank_of = [&](std::size_t acting) {
    return acting < excess ? 2 * acting + 1 : acting + excess;
  };
  const std::span<T> nothing;
  const std::size_t rank = ranks.rank();
  const bool is_paired = rank < 2 * excess;

  if (is_paired && rank % 2 == 0) {
    exchange<T>(ranks, rank + 1, data, rank + 1, nothing);
    exchange<T>(ranks, rank + 1, nothing, rank + 1, data);
    return;
  }
  std::vector<T> received(data.size());
  if (is_paired) {
    exchange<T>(ranks, rank - 1, nothing, rank - 1, std::span(received));
    add_to(data.data(), received.data(), data.size());
  }
  const std::size_t acting = is_paired ? rank / 2 : rank - excess;
  sum_among_acting(ranks, acting, acting_count, rank_of, data, std::span(received));
  if (is_paired) {
    exchange<T>(ranks, rank - 1, data, rank - 1, nothing);
  }
}

template void recursive_doubling_sum(const Communicator&, std::span<float>);
template void recursive_doubling_sum(const Communicator&, std::span<double>);
template void recursive_doubling_sum(const Communicator&, std::span<std::int64_t>);

}  // namespace rubato::collectives
