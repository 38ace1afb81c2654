// A table: a note for each rank, what the measures send, a slot for each minibatch.
//
// Few nodes send each other all they have, in one message and one step; MPI's reduction of a short
// array takes at least two steps, and there are two arrays.
#include "optim/update_tables.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "collectives/node_barrier.hpp"

namespace rubato::optim {
namespace {

constexpr std::size_t few_nodes = 4;

}  // namespace

UpdateTables::UpdateTables(const collectives::Topology& topology, std::size_t tensors)
    : topology_(topology),
      patience_(collectives::waiting_patience(topology)),
      tensors_(tensors),
      largest_memory_(topology, (tensors + 2) * sizeof(std::int64_t)),
      memory_(topology, 0) {
  const bool combines = topology.node().rank() == 0 && topology.node_count() > 1;
  if (combines && topology.node_count() <= few_nodes) {
    few_ = topology.across()->duplicate();
    tables_of_few_.resize(few_->size());
  }
}

void UpdateTables::allocate(std::size_t minibatches, std::size_t measured) {
  most_minibatches_ = minibatches;
  measured_ = measured;
  const std::size_t bytes = topology_.all().size() * sizeof(RankNote) + measured * sizeof(double) +
                            minibatches * sizeof(MinibatchSlot);
  memory_ = collectives::NodeMemory(topology_, topology_.node().rank() == 0 ? 2 * bytes : 0);
  for (std::vector<double>& numbers : tables_of_few_) {
    numbers.reserve(table(0).size() + largest_of(0).size());
  }
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
  table_under_way_ = all.first(static_cast<std::size_t>(end - all.data()));
  if (few_) return exchange();
  under_way_.sum(*topology_.across(), table_under_way_);
  under_way_.maximum(*topology_.across(), largest);
}

void UpdateTables::exchange() {
  const std::span<const std::int64_t> largest = largest_of(0);
  for (std::vector<double>& numbers : tables_of_few_) {
    numbers.resize(table_under_way_.size() + largest.size());
  }
  std::vector<double>& mine = tables_of_few_[few_->rank()];
  std::ranges::transform(largest, std::ranges::copy(table_under_way_, mine.begin()).out,
                         [](std::int64_t number) { return std::bit_cast<double>(number); });
  for (std::size_t node = 0; node < few_->size(); ++node) {
    if (node == few_->rank()) continue;
    under_way_.receive(*few_, node, 0, std::as_writable_bytes(std::span(tables_of_few_[node])));
    under_way_.send(*few_, node, 0, std::as_bytes(std::span(mine)));
  }
}

void UpdateTables::finish_combining() {
  collectives::wait_until([this] { return under_way_.are_done(); }, patience_);
  if (few_) combine();
}

// In the order of the nodes on each of them, so that sums are alike.
void UpdateTables::combine() {
  const std::span<double> sums = std::exchange(table_under_way_, {});
  if (sums.empty()) return;
  const std::span<std::int64_t> largest = largest_of(0);
  std::ranges::fill(sums, 0.0);
  for (const std::vector<double>& numbers : tables_of_few_) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += numbers[i];
    for (std::size_t i = 0; i < largest.size(); ++i) {
      largest[i] = std::max(largest[i], std::bit_cast<std::int64_t>(numbers[sums.size() + i]));
    }
  }
}

}  // namespace rubato::optim
