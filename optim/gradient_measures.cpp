// Segments are measured one by one and added in their order, whoever measured them.
#include "optim/gradient_measures.hpp"

#include <algorithm>
#include <array>

#include "optim/inner_products.hpp"
#include "optim/norm_block.hpp"

namespace rubato::optim {

namespace {

// Another core may have written them: they are on their way while the next segment is added up.
void prefetch(std::span<const float> scales) {
  for (std::size_t i = 0; i < scales.size(); i += line_elements) __builtin_prefetch(&scales[i]);
}

std::vector<std::size_t> parameter_sizes(std::span<const TensorRange> tensors) {
  std::vector<std::size_t> sizes;
  for (const TensorRange& tensor : tensors) {
    if (tensor.is_parameter) sizes.push_back(tensor.size);
  }
  return sizes;
}

std::vector<std::size_t> places_of_scales(const TensorSegments& segments) {
  std::vector<std::size_t> places{0};
  for (const Segment& segment : segments.all().first(segments.parameters())) {
    places.push_back(places.back() + most_elements_measured(segment));
  }
  return places;
}

}  // namespace

GradientMeasures::GradientMeasures(const collectives::Topology& topology,
                                   const TensorSegments& segments,
                                   std::span<const TensorRange> tensors, MeasureOptions options)
    : topology_(topology),
      segments_(segments),
      options_(options),
      tensor_sums_(options.per_tensor ? parameter_sizes(tensors).size() : 0),
      sizes_(parameter_sizes(tensors)),
      weighed_squares_(segments.parameters()),
      tensor_facts_(tensor_sums_),
      pieces_(options.preconditioner != nullptr ? segments.parameters() : 0),
      scale_places_(places_of_scales(segments)),
      scale_memory_(topology, topology.node().rank() == 0 && options.preconditioner != nullptr
                                  ? scale_places_.back() * sizeof(float)
                                  : 0),
      mean_memory_(topology,
                   topology.node().rank() == 0 ? segments.parameters() * sizeof(MeanSquares) : 0),
      pair_memory_(topology, std::max<std::size_t>(1, tensor_sums_) * sizeof(ExactPair)) {}

void GradientMeasures::begin(std::size_t minibatches, const ExactUnits* units) {
  minibatches_ = minibatches;
  units_ = units;
  weighs_ = is_settled() && tells();
  std::ranges::fill(pairs_of(topology_.node().rank()), ExactPair());
}

bool GradientMeasures::is_settled() const {
  return options_.preconditioner != nullptr && options_.preconditioner->is_settled();
}

bool GradientMeasures::lacks_scales() const {
  return is_settled() && scales_after_updates_ != options_.preconditioner->updates();
}

std::span<float> GradientMeasures::scales(std::size_t segment) const {
  const std::size_t begin = scale_places_[segment];
  return scale_memory_.region_as<float>(0).subspan(begin, scale_places_[segment + 1] - begin);
}

void GradientMeasures::take_scales() {
  if (!is_settled()) return;
  scales_after_updates_ = options_.preconditioner->updates();
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    pieces_[i].take_turn(segments_, i, *scales_after_updates_);
  }
  invert_my_scales();
}

// Of many segments in one call, which takes as long as a few pieces do.
void GradientMeasures::invert_my_scales() {
  const collectives::Slice slice = topology_.my_slice(segments_.begin_of(segments_.all().size()));
  std::array<float, norm_block_elements> state{};
  std::size_t first = 0, gathered = 0;  // segments whose state is there, placed as their scales are
  const auto invert = [&] {
    const std::size_t begin = scale_places_[first], size = scale_places_[first + gathered] - begin;
    options_.preconditioner->inverse_scales(std::span<const float>(state).first(size),
                                            scale_memory_.region_as<float>(0).subspan(begin, size));
    gathered = 0;
  };
  for (std::size_t i = 0; i < segments_.parameters(); ++i) {
    const Segment& segment = segments_.all()[i];
    if (segment.begin < slice.begin || segment.begin >= slice.end()) continue;
    if (gathered > 0 && scale_places_[i + 1] - scale_places_[first] > state.size()) invert();
    if (gathered == 0) first = i;
    pieces_[i].gather(options_.preconditioner_state.subspan(segment.begin, segment.size),
                      &state[scale_places_[i] - scale_places_[first]]);
    ++gathered;
  }
  if (gathered > 0) invert();
}

void GradientMeasures::take(std::size_t segment, std::span<const float> gradient) {
  if (segment >= segments_.parameters() || !weighs_) return;
  weighed_squares_[segment] = weighed_square(segment, gradient, /*is_in_cache=*/true);
}

double GradientMeasures::weighed_square(std::size_t segment, std::span<const float> gradient,
                                        bool is_in_cache) const {
  const MeasuredPieces& pieces = pieces_[segment];
  if (const std::size_t next = segment + 1; next < segments_.parameters()) {
    const std::span<const float> upcoming = scales(next);
    prefetch(upcoming.first(std::min(pieces.size, upcoming.size())));
    if (!is_in_cache) pieces_[next].prefetch(gradient.data() + gradient.size());
  }
  return pieces.weight * square(pieces, gradient, scales(segment).first(pieces.size));
}

double GradientMeasures::finish_minibatch(std::span<const double> squares, double samples) {
  double weighed = 0;
  if (weighs_) {
    for (const double square : weighed_squares_) weighed += square;
  }
  const std::span<ExactPair> pairs = pairs_of(topology_.node().rank());
  for (std::size_t tensor = 0, i = 0; tensor < pairs.size(); ++tensor) {
    double sum = 0;
    for (; i < segments_.parameters() && segments_.all()[i].tensor == tensor; ++i) {
      sum += squares[i];
    }
    const double share = sum / samples;
    if (units_ == nullptr) {
      pairs[tensor].high += share;
    } else {
      PairUnits(units_->exponents()[tensor], sizes_[tensor], minibatches_)
          .add(share, pairs[tensor]);
    }
  }
  return weighed;
}

void GradientMeasures::take_mean(std::size_t begin, std::span<const float> mean) {
  if (!tells()) return;
  const bool compares = minibatches_ == 1 && !options_.kept_gradient.empty();
  const std::span<const Segment> block = segments_.of_block(begin);
  const auto first = static_cast<std::size_t>(block.data() - segments_.all().data());
  for (std::size_t i = 0; i < block.size() && first + i < segments_.parameters(); ++i) {
    const Segment& segment = block[i];
    const std::span<const float> g = mean.subspan(segment.begin - begin, segment.size);
    MeanSquares result{};
    if (tensor_sums_ > 0) result.square = product(g, g);
    std::span<const float> p;
    if (compares) {
      p = options_.kept_gradient.subspan(segment.begin, segment.size);
      result.kept_product = product(p, g);
      result.kept_square = product(p, p);
    }
    if (weighs_) weigh(first + i, g, p, result);
    means()[first + i] = result;
  }
}

void GradientMeasures::weigh(std::size_t segment, std::span<const float> mean,
                             std::span<const float> kept, MeanSquares& result) const {
  result.weighed_square = weighed_square(segment, mean, /*is_in_cache=*/true);
  if (kept.empty()) return;
  const MeasuredPieces& pieces = pieces_[segment];
  const std::span<const float> scale = scales(segment).first(pieces.size);
  result.weighed_product = pieces.weight * product(pieces, kept, mean, scale);
  result.weighed_kept = pieces.weight * square(pieces, kept, scale);
}

void GradientMeasures::add_up(std::span<double> table) const {
  std::ranges::fill(table, 0.0);
  if (tensor_sums_ == 0) return;
  for (std::size_t rank = 0; rank < topology_.node().size(); ++rank) {
    const std::span<const ExactPair> pairs = pairs_of(rank);
    for (std::size_t tensor = 0; tensor < pairs.size(); ++tensor) {
      table[2 * tensor] += pairs[tensor].high;
      table[2 * tensor + 1] += pairs[tensor].low;
    }
  }
}

GradientFacts GradientMeasures::preconditioned(const GradientFacts& plain,
                                               double square_per_sample) const {
  if (!weighs_) return {};
  GradientFacts facts{.batch_size = plain.batch_size, .minibatches = plain.minibatches};
  facts.weighted_square = square_per_sample / plain.batch_size;
  for (const MeanSquares& mean : means()) {
    facts.mean_square += mean.weighed_square;
    facts.kept_product += mean.weighed_product;
    facts.kept_square += mean.weighed_kept;
  }
  return facts;
}

void GradientMeasures::add_kept(GradientFacts& facts) const {
  for (const MeanSquares& mean : means()) {
    facts.kept_product += mean.kept_product;
    facts.kept_square += mean.kept_square;
  }
}

std::span<const GradientFacts> GradientMeasures::tensors(const GradientFacts& all,
                                                         std::span<const double> table) {
  if (!tells()) return {};
  for (std::size_t tensor = 0; tensor < tensor_sums_; ++tensor) {
    const ExactPair square_per_sample{table[2 * tensor], table[2 * tensor + 1]};
    tensor_facts_[tensor] = {.batch_size = all.batch_size, .minibatches = all.minibatches};
    tensor_facts_[tensor].weighted_square = square_per_sample.value() / all.batch_size;
  }
  for (std::size_t i = 0; i < segments_.parameters() && tensor_sums_ > 0; ++i) {
    GradientFacts& facts = tensor_facts_[segments_.all()[i].tensor];
    facts.mean_square += means()[i].square;
    facts.kept_product += means()[i].kept_product;
    facts.kept_square += means()[i].kept_square;
  }
  return tensor_facts_;
}

std::span<GradientMeasures::MeanSquares> GradientMeasures::means() const {
  return mean_memory_.region_as<MeanSquares>(0).first(segments_.parameters());
}

std::span<ExactPair> GradientMeasures::pairs_of(std::size_t node_rank) const {
  return pair_memory_.region_as<ExactPair>(node_rank).first(tensor_sums_);
}

}  // namespace rubato::optim
