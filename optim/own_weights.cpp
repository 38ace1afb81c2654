#include "optim/own_weights.hpp"

#include "collectives/loop_prefetch.hpp"

namespace rubato::optim {

OwnWeights::OwnWeights(std::span<const float> shared, collectives::Slice mine)
    : shared_(shared),
      mine_(mine),
      memory_(collectives::MappedMemory::no_file, shared.size_bytes()),
      own_(reinterpret_cast<float*>(memory_.bytes().data()), shared.size()) {
  collectives::take_pages(memory_.bytes());
}

std::span<float> OwnWeights::of(std::span<const float> block) const {
  return own_.subspan(static_cast<std::size_t>(block.data() - shared_.data()), block.size());
}

void OwnWeights::take_mine() { take(mine_.begin, mine_.end()); }

void OwnWeights::take_others() {
  take(0, mine_.begin);
  take(mine_.end(), shared_.size());
}

void OwnWeights::take(std::size_t begin, std::size_t end) {
  collectives::prefetched_copy(shared_.subspan(begin, end - begin), own_.data() + begin);
}

}  // namespace rubato::optim
