#include "optim/tensor_norms.hpp"

#include "optim/squared_norm.hpp"

namespace rubato::optim {

namespace {

constexpr std::size_t kinds = 4;  // weights count twice

std::vector<std::size_t> first_segments(const TensorSegments& segments) {
  std::vector<std::size_t> first;
  for (std::size_t i = 0; i < segments.parameters(); ++i) {
    while (first.size() <= segments.all()[i].tensor) first.push_back(i);
  }
  first.push_back(segments.parameters());
  return first;
}

}  // namespace

TensorNorms::TensorNorms(const collectives::Topology& topology, const TensorSegments& segments)
    : segments_(segments),
      first_of_(first_segments(segments)),
      memory_(topology,
              topology.node().rank() == 0 ? kinds * segments.parameters() * sizeof(double) : 0) {}

void TensorNorms::note_gradient(std::size_t begin, std::span<const float> mean, double square) {
  const std::span<const Segment> block = segments_.of_block(begin);
  const auto first = static_cast<std::size_t>(block.data() - segments_.all().data());
  const std::span<double> squares = this->squares(of_gradient);
  if (block.front().size >= mean.size()) {
    squares[first] = square;
    return;
  }
  for (std::size_t i = 0; i < block.size() && first + i < segments_.parameters(); ++i) {
    squares[first + i] = squared_norm(mean.subspan(block[i].begin - begin, block[i].size));
  }
}

void TensorNorms::note_direction(std::size_t segment, double square) {
  squares(of_direction)[segment] = square;
}

void TensorNorms::note_new_weights(std::size_t segment, double square) {
  squares(of_weights + 1 - turn_)[segment] = square;
}

double TensorNorms::gradient(std::size_t tensor) const { return sum(of_gradient, tensor); }
double TensorNorms::direction(std::size_t tensor) const { return sum(of_direction, tensor); }
double TensorNorms::weights(std::size_t tensor) const { return sum(of_weights + turn_, tensor); }

std::span<double> TensorNorms::squares(std::size_t kind) const {
  return memory_.region_as<double>(0).subspan(kind * segments_.parameters(),
                                              segments_.parameters());
}

double TensorNorms::sum(std::size_t kind, std::size_t tensor) const {
  const std::span<const double> squares = this->squares(kind);
  double sum = 0;
  for (std::size_t i = first_of_[tensor]; i < first_of_[tensor + 1]; ++i) sum += squares[i];
  return sum;
}

}  // namespace rubato::optim
