// The digest's stream: each value preceded by what it takes to read it back, so that no two states
// share a stream.
#include "runtime/training_state.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <type_traits>

#include "runtime/sha256.hpp"

namespace rubato::runtime {

namespace {

static_assert(std::endian::native == std::endian::little, "the digest is over little-endian bytes");

template <class T>
void add_values(Sha256& hash, std::span<const T> values) {
  static_assert(std::is_arithmetic_v<T>);
  hash.add(std::as_bytes(values));
}

void add_number(Sha256& hash, std::uint64_t number) {
  add_values(hash, std::span<const std::uint64_t>(&number, 1));
}

void add_text(Sha256& hash, const std::string& text) {
  add_number(hash, text.size());
  add_values(hash, std::span<const char>(text));
}

template <class Named>
std::vector<Named> sorted(std::vector<Named> items) {
  std::sort(items.begin(), items.end(),
            [](const Named& left, const Named& right) { return left.name < right.name; });
  return items;
}

void add_tensors(Sha256& hash, const std::vector<NamedTensor>& tensors) {
  add_number(hash, tensors.size());
  for (const NamedTensor& tensor : sorted(tensors)) {
    add_text(hash, tensor.name);
    add_number(hash, tensor.shape.size());
    for (std::size_t extent : tensor.shape) add_number(hash, extent);
    add_values(hash, std::span<const float>(tensor.values));
  }
}

void add_cursor(Sha256& hash, const data::Cursor& cursor) {
  for (std::uint64_t number : {cursor.update, cursor.row, cursor.epoch, cursor.position,
                               cursor.minibatch, cursor.samples}) {
    add_number(hash, number);
  }
}

void add_audit(Sha256& hash, const SampleAudit& audit) {
  for (std::uint64_t number :
       {audit.epoch, audit.epoch_samples, audit.epoch_digest, audit.run_digest}) {
    add_number(hash, number);
  }
}

}  // namespace

std::string state_digest(const TrainingState& state) {
  Sha256 hash;
  add_text(hash, "rubato training state 2");
  add_number(hash, state.seed);
  add_text(hash, state.rule);
  add_cursor(hash, state.cursor);
  add_audit(hash, state.audit);
  add_tensors(hash, state.model);
  add_tensors(hash, state.optimizer);
  add_number(hash, state.scalars.size());
  for (const optim::NamedScalar& scalar : sorted(state.scalars)) {
    add_text(hash, scalar.name);
    add_number(hash, std::bit_cast<std::uint64_t>(scalar.value));
  }
  add_number(hash, state.exact_exponents.size());
  for (const NamedExponent& unit : sorted(state.exact_exponents)) {
    add_text(hash, unit.name);
    add_values(hash, std::span<const std::int32_t>(&unit.exponent, 1));
  }
  return hash.hexadecimal();
}

}  // namespace rubato::runtime
