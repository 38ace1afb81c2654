// A table: a note for each rank, what the measures send, a slot for each minibatch.
#include "optim/update_tables.hpp"

#include <algorithm>

#include "collectives/node_barrier.hpp"

namespace rubato::optim {

UpdateTables::UpdateTables(const collectives::Topology& topology, std::size_t tensors)
    : topology_(topology),
      patience_(collectives::waiting_patience(topology)),
      tensors_(tensors),
      largest_memory_(topology, (tensors + 2) * sizeof(std::int64_t)),
      memory_(topology, 0) {}

void UpdateTables::allocate(std::size_t minibatches, std::size_t measured) {
  most_minibatches_ = minibatches;
  measured_ = measured;
  const std::size_t bytes = topology_.all().size() * sizeof(RankNote) + measured * sizeof(double) +
                            minibatches * sizeof(MinibatchSlot);
  memory_ = collectives::NodeMemory(topology_, topology_.node().rank() == 0 ? 2 * bytes : 0);
}

std::span<double> UpdateTables::table(std::size_t index) const {
  const std::span<double> both = memory_.region_as<double>(0);
  return both.subspan(index * (both.size() / 2), both.size() / 2);
}

std::span<RankNote> UpdateTables::notes() const {
  return {reinterpret_cast<RankNote*>(table(current_).data()), topology_.all().size()};
}

std::span<double> UpdateTables::measured() const {
  return table(current_).subspan(notes().size() * std::tuple_size_v<RankNote>, measured_);
}

std::span<MinibatchSlot> UpdateTables::slots() const {
  const std::span<double> before = measured();
  return {reinterpret_cast<MinibatchSlot*>(before.data() + before.size()), most_minibatches_};
}

std::span<std::int64_t> UpdateTables::largest_of(std::size_t node_rank) const {
  return largest_memory_.region_as<std::int64_t>(node_rank).first(tensors_ + 2);
}

void UpdateTables::begin_combining(std::size_t minibatches) {
  if (topology_.node_count() > 1) send(minibatches);
  std::ranges::fill(table(1 - current_), 0.0);
}

// Largest magnitudes over the node's ranks first.
void UpdateTables::send(std::size_t minibatches) {
  const std::span<std::int64_t> largest = largest_of(0);
  for (std::size_t rank = 1; rank < topology_.node().size(); ++rank) {
    std::ranges::transform(
        largest, largest_of(rank), largest.begin(),
        [](std::int64_t one, std::int64_t other) { return std::max(one, other); });
  }
  const std::span<double> all = table(current_);
  const auto* const end = reinterpret_cast<const double*>(slots().data() + minibatches);
  under_way_.sum(*topology_.across(), all.first(static_cast<std::size_t>(end - all.data())));
  under_way_.maximum(*topology_.across(), largest);
}

void UpdateTables::finish_combining() {
  collectives::wait_until([this] { return under_way_.are_done(); }, patience_);
}

}  // namespace rubato::optim
