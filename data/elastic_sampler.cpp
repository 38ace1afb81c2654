// See elastic_sampler.hpp.
#include "data/elastic_sampler.hpp"

#include <stdexcept>
#include <string>

namespace rubato::data {
namespace {

// The orders of the epochs that an update touches. Minibatches come in order, so the last one used
// is kept.
class Orders {
 public:
  Orders(OrderKind kind, std::uint64_t samples, std::uint64_t seed)
      : kind_(kind), samples_(samples), seed_(seed) {}

  std::vector<std::uint64_t> samples_of(const Minibatch& minibatch) {
    if (!order_ || epoch_ != minibatch.epoch) {
      order_.emplace(kind_, samples_, seed_, minibatch.epoch);
      epoch_ = minibatch.epoch;
    }
    std::vector<std::uint64_t> samples(minibatch.size);
    order_->read(minibatch.begin, samples);
    return samples;
  }

 private:
  OrderKind kind_;
  std::uint64_t samples_;
  std::uint64_t seed_;
  std::uint64_t epoch_ = 0;
  std::optional<EpochOrder> order_;
};

}  // namespace

ElasticSampler::ElasticSampler(TracePlan plan, Options options)
    : plan_(std::move(plan)), options_(options) {
  if (!plan_.total_updates()) {
    throw std::invalid_argument(
        "elastic sampler: the trace has no end, expected a number of epochs or updates");
  }
  Cursor cursor;
  while (const auto update = plan_.next(cursor)) {
    while (epoch_begins_.size() <= update->begin.epoch) epoch_begins_.push_back(update->begin);
    cursor = update->end;
  }
  set_epoch(0);
}

void ElasticSampler::set_epoch(std::uint64_t epoch) {
  if (epoch >= epochs()) {
    throw std::out_of_range("elastic sampler: found epoch " + std::to_string(epoch) +
                            ", expected less than " + std::to_string(epochs()));
  }
  batch_sizes_.clear();
  minibatch_counts_.clear();
  substep_counts_.clear();
  substeps_.clear();
  Orders orders(options_.order, plan_.options().samples, options_.seed);
  const Cursor& cursor = epoch_begins_[epoch];
  position_ = cursor.epoch == epoch ? cursor.position : 0;
  for (auto update = plan_.next(cursor); update && update->begin.epoch == epoch;
       update = plan_.next(update->end)) {
    const auto slots =
        substeps_of(options_.assignment, options_.rank, options_.ranks, update->minibatches.size());
    batch_sizes_.push_back(update->batch_size);
    minibatch_counts_.push_back(update->minibatches.size());
    substep_counts_.push_back(slots.empty() ? 1 : slots.size());
    if (slots.empty()) substeps_.push_back({update->begin.update, 0, /*is_idle=*/true, {}, {}});
    for (const std::size_t slot : slots) {
      const Minibatch& minibatch = update->minibatches[slot];
      substeps_.push_back(
          {update->begin.update, slot, /*is_idle=*/false, minibatch, orders.samples_of(minibatch)});
    }
  }
}

}  // namespace rubato::data
