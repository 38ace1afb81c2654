#include "collectives/bucket_order.hpp"

#include <algorithm>
#include <ranges>
#include <stdexcept>

namespace rubato::collectives {
namespace {

void cut_from_the_end(std::size_t begin, std::size_t end, std::size_t longest,
                      std::vector<Slice>& buckets) {
  while (end > begin) {
    // Cuts are multiples of the bucket's length, wherever the slice ends.
    const std::size_t cut = std::max(begin, (end - 1) / longest * longest);
    buckets.push_back({cut, end - cut});
    end = cut;
  }
}

}  // namespace

std::vector<Slice> buckets_of(const Slice& slice, std::size_t early, std::size_t blocks,
                              std::span<const Slice> left_out) {
  if (blocks == 0) {
    throw std::invalid_argument("a bucket of 0 blocks was asked for; at least 1 is needed");
  }
  const std::size_t border =
      std::clamp(early / block_elements * block_elements, slice.begin, slice.end());
  std::vector<Slice> buckets;
  std::size_t end = border;
  for (const Slice& gap : left_out | std::views::reverse) {
    if (gap.end() <= slice.begin || gap.begin >= border) continue;
    cut_from_the_end(gap.end(), end, blocks * block_elements, buckets);
    end = gap.begin;
  }
  cut_from_the_end(slice.begin, end, blocks * block_elements, buckets);
  cut_from_the_end(border, slice.end(), blocks * block_elements, buckets);
  return buckets;
}

}  // namespace rubato::collectives
