// Incoming memory holds, one after the other, what arrives; outgoing memory what is sent, since the
// model's own is soon written over.
#include "optim/factor_exchange.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#include "optim/tensor_segments.hpp"

namespace rubato::optim {

namespace {

constexpr int tag = 0;                      // messages between two ranks keep their order
constexpr std::size_t most_bytes = 32'768;  // of a message: MPI sends it at once

std::size_t whole_lines(std::size_t elements) {
  return collectives::round_up(elements, line_elements);
}

template <class Byte, class Use>
void for_each_message(std::span<Byte> bytes, const Use& use) {
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(most_bytes, bytes.size()))) {
    use(bytes.first(std::min(most_bytes, bytes.size())));
  }
}

}  // namespace

FactorExchange::FactorExchange(const collectives::Topology& topology,
                               std::vector<FactoredTensor> tensors, MultiplyFactors multiply)
    : ranks_(topology.all().duplicate()),
      plan_(topology, std::move(tensors)),
      multiply_(std::move(multiply)) {}

FactorExchange::~FactorExchange() {
  if (is_idle_) return;
  static_cast<void>(new collectives::MappedMemory(std::move(memory_)));
}

std::size_t FactorExchange::floats_of(const FactoredTensor& tensor, std::size_t samples) {
  return whole_lines(samples * tensor.outputs) + whole_lines(samples * tensor.inputs);
}

Factors FactorExchange::factors_in(std::span<const float> memory, const FactoredTensor& tensor,
                                   std::size_t samples) {
  return {tensor.tensor, memory.first(samples * tensor.outputs),
          memory.subspan(whole_lines(samples * tensor.outputs), samples * tensor.inputs)};
}

bool FactorExchange::plan(std::span<const MinibatchRun> runs, std::size_t most_gradients) {
  if (!are_alike_ || !plan_.make(runs, most_gradients)) return false;
  const std::size_t tried_before = tried_.size();
  std::uint64_t hash = 0;
  for (const MinibatchRun& run : runs) {
    for (const FactoredTensor& tensor : plan_.tensors()) {
      if (!is_tried(tensor, run.samples)) hash = 3 * hash + trial(tensor, run.samples);
    }
  }
  if (tried_.size() == tried_before) return true;
  std::array<std::int64_t, 2> largest{std::bit_cast<std::int64_t>(hash),
                                      std::bit_cast<std::int64_t>(~hash)};
  ranks_.maximum(largest);  // the second one is the largest where the first is the least
  are_alike_ = (largest[0] ^ largest[1]) == -1;
  if (!are_alike_) plan_.clear();
  return are_alike_;
}

bool FactorExchange::is_tried(const FactoredTensor& tensor, std::size_t samples) {
  const std::array<std::size_t, 2> wanted{tensor.tensor, samples};
  if (std::ranges::find(tried_, wanted) != tried_.end()) return true;
  tried_.push_back(wanted);
  return false;
}

std::uint64_t FactorExchange::trial(const FactoredTensor& tensor, std::size_t samples) const {
  const std::size_t factors = floats_of(tensor, samples);
  const std::size_t floats = factors + tensor.size();
  const collectives::MappedMemory memory(collectives::MappedMemory::no_file,
                                         floats * sizeof(float));
  const std::span<float> all(reinterpret_cast<float*>(memory.bytes().data()), floats);
  for (std::size_t i = 0; i < factors; ++i) {  // of many digits, and different
    all[i] = 1.0F / static_cast<float>(3 + i % 1009) - 0.01F;
  }
  multiply_(factors_in(all, tensor, samples), all.subspan(factors));
  std::uint64_t hash = 0;
  for (const float value : all.subspan(factors)) {
    hash = (hash ^ std::bit_cast<std::uint32_t>(value)) * 0x9E37'79B9'7F4A'7C15U;
    hash ^= hash >> 32U;
  }
  return hash;
}

void FactorExchange::begin() {
  make_room();
  is_idle_ = plan_.tensors().empty();
  made_ = expected_ = 0;
  std::span<float> free = incoming_;
  for (std::size_t i = 0; i < plan_.others().size(); ++i) {
    const MinibatchRun& run = plan_.others()[i];
    for (const FactoredTensor& tensor : plan_.tensors()) {
      const std::size_t floats = floats_of(tensor, run.samples);
      receive(i, tensor, free.first(floats));
      free = free.subspan(floats);
    }
  }
}

void FactorExchange::make_room() {
  const auto floats_of_all = [this](std::span<const MinibatchRun> runs) {
    std::size_t floats = 0;
    for (const MinibatchRun& run : runs) {
      for (const FactoredTensor& tensor : plan_.tensors()) floats += floats_of(tensor, run.samples);
    }
    return floats;
  };
  const std::size_t incoming = floats_of_all(plan_.others());
  const std::size_t outgoing = floats_of_all(plan_.mine());
  const std::size_t bytes = (incoming + outgoing) * sizeof(float);
  if (bytes > memory_.bytes().size()) {
    memory_ = collectives::MappedMemory(collectives::MappedMemory::no_file, bytes);
  }
  auto* const begin = reinterpret_cast<float*>(memory_.bytes().data());
  incoming_ = {begin, incoming};
  outgoing_ = {begin + incoming, outgoing};
}

void FactorExchange::receive(std::size_t minibatch, const FactoredTensor& tensor,
                             std::span<float> memory) {
  if (expected_ == arrivals_.size()) arrivals_.emplace_back();
  Arrival& arrival = arrivals_[expected_++];
  const MinibatchRun& run = plan_.others()[minibatch];
  arrival.minibatch = minibatch;
  arrival.place = {tensor.begin, tensor.size()};
  arrival.factors = factors_in(memory, tensor, run.samples);
  for_each_message(std::as_writable_bytes(memory), [&](std::span<std::byte> message) {
    arrival.receives.receive(ranks_, run.rank, tag, message);
  });
}

void FactorExchange::send(const Factors& factors) {
  const auto tensor = std::ranges::find(plan_.tensors(), factors.tensor, &FactoredTensor::tensor);
  if (tensor == plan_.tensors().end()) return;
  const std::size_t samples = factors.inputs.size() / tensor->inputs;
  const std::span<float> copy = outgoing_.first(floats_of(*tensor, samples));
  outgoing_ = outgoing_.subspan(copy.size());
  std::ranges::copy(factors.output_gradients, copy.begin());
  std::ranges::copy(factors.inputs,
                    copy.subspan(whole_lines(factors.output_gradients.size())).begin());
  for (const std::size_t receiver : plan_.receivers()) {
    for_each_message(std::as_bytes(copy), [&](std::span<const std::byte> message) {
      sends_.send(ranks_, receiver, tag, message);
    });
  }
}

bool FactorExchange::multiply(const std::function<std::span<float>(std::size_t)>& place_of) {
  if (made_ < expected_ && arrivals_[made_].receives.are_done()) {
    const Arrival& arrival = arrivals_[made_++];
    multiply_(arrival.factors,
              place_of(arrival.minibatch).subspan(arrival.place.begin, arrival.place.size));
  }
  is_idle_ = made_ == expected_ && sends_.are_done();
  return is_idle_;
}

}  // namespace rubato::optim
