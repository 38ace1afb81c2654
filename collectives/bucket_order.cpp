#include "collectives/bucket_order.hpp"

#include <algorithm>
#include <stdexcept>

namespace rubato::collectives {
namespace {

// The last cut before block `end`, wherever the slice begins and ends: cuts are multiples of the
// longest bucket's length and, in the array's first bucket, half of it and a block.
std::size_t last_cut_before(std::size_t end, std::size_t longest) {
  if (end > longest) return (end - 1) / longest * longest;
  const std::size_t half = longest / 2;
  return end > half ? half : std::min<std::size_t>(end - 1, 1);
}

void cut_from_the_end(std::size_t begin, std::size_t end, std::size_t longest,
                      std::vector<Slice>& buckets) {
  while (end > begin) {
    const std::size_t blocks = (end + block_elements - 1) / block_elements;
    const std::size_t cut = std::max(begin, last_cut_before(blocks, longest) * block_elements);
    buckets.push_back({cut, end - cut});
    end = cut;
  }
}

}  // namespace

std::vector<Slice> buckets_of(const Slice& slice, std::size_t blocks,
                              std::span<const Slice> left_out) {
  if (blocks == 0) {
    throw std::invalid_argument("a bucket of 0 blocks was asked for; at least 1 is needed");
  }
  std::vector<Slice> buckets;
  std::size_t end = slice.end();
  for (auto gap = left_out.rbegin(); gap != left_out.rend(); ++gap) {
    if (gap->end() <= slice.begin || gap->begin >= slice.end()) continue;
    cut_from_the_end(gap->end(), end, blocks, buckets);
    end = gap->begin;
  }
  cut_from_the_end(slice.begin, end, blocks, buckets);
  return buckets;
}

}  // namespace rubato::collectives
