// Values as text: they are read by people, and compared for equality.
#include "runtime/run_context.hpp"

#include <gnu/libc-version.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iomanip>
#include <limits>
#include <numeric>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>

#include "data/errors.hpp"
#include "nn/backend.hpp"
#include "runtime/sha256.hpp"
#include "runtime/utc_time.hpp"
#include "runtime/version.hpp"

namespace rubato::runtime {

namespace {

template <class T>
std::string joined(const std::vector<T>& items) {
  std::ostringstream text;
  text << std::setprecision(std::numeric_limits<float>::max_digits10);
  for (std::size_t i = 0; i < items.size(); ++i) text << (i > 0 ? ", " : "") << items[i];
  return text.str();
}

std::string describe_kernels(const std::string& backend) {
  const nn::Kernels kernels = nn::kernels(nn::backend(backend));
  return kernels.backend + ", " + kernels.version + ", " + kernels.isa;
}

// A data set with its own constants for each of thousands of features: they are in the digest of
// its content.
constexpr std::size_t most_features_told = 64;

std::string describe(const data::Standardisation& standardisation) {
  if (standardisation.mean.size() > most_features_told) {
    return "of each of " + std::to_string(standardisation.mean.size()) + " features";
  }
  return "(x * " + joined(std::vector{standardisation.scale}) + " - (" +
         joined(standardisation.mean) + ")) / (" + joined(standardisation.deviation) + ")";
}

// As they are held, which may be a quarter of the bytes that training sees, and how those are made
// of them.
void add_samples(Sha256& hash, const data::InMemoryDataset& dataset) {
  const data::SampleShape shape = dataset.shape();
  const std::size_t bytes =
      std::visit([](auto held) { return held.size_bytes(); }, dataset.values());
  const std::array<std::uint64_t, 6> sizes{shape.height,      shape.width,    shape.channels,
                                           dataset.classes(), dataset.size(), bytes};
  hash.add(std::as_bytes(std::span(sizes)));
  const data::Standardisation& by = dataset.standardisation();
  hash.add(std::as_bytes(std::span(&by.scale, 1)));
  hash.add(std::as_bytes(std::span(by.mean)));
  hash.add(std::as_bytes(std::span(by.deviation)));
  std::visit([&](const auto& values) { hash.add(std::as_bytes(values)); }, dataset.values());
  hash.add(std::as_bytes(dataset.labels()));
}

void add_samples(Sha256& hash, const data::Dataset& dataset) {
  constexpr std::uint64_t block = 1024;
  std::vector<std::uint64_t> indices(block);
  std::vector<float> inputs(block * dataset.shape().size());
  std::vector<std::int32_t> labels(block);
  for (std::uint64_t begin = 0; begin < dataset.size(); begin += block) {
    const std::size_t size = std::min(block, dataset.size() - begin);
    std::iota(indices.begin(), indices.end(), begin);
    const std::span some_inputs(inputs.data(), size * dataset.shape().size());
    const std::span some_labels(labels.data(), size);
    dataset.read({indices.data(), size}, some_inputs, some_labels);
    hash.add(std::as_bytes(some_inputs));
    hash.add(std::as_bytes(some_labels));
  }
}

// Of all samples and labels.
std::string content_digest(const data::Dataset* dataset) {
  if (dataset == nullptr) return "none";
  Sha256 hash;
  if (const auto* held = dynamic_cast<const data::InMemoryDataset*>(dataset)) {
    add_samples(hash, *held);
  } else {
    add_samples(hash, *dataset);
  }
  return hash.hexadecimal();
}

constexpr const char* trace_entry = "the trace";
// Not "the training data": under that name older checkpoints have a digest of another kind.
constexpr const char* training_set_entry = "the training set";
constexpr const char* test_set_entry = "the test set";

std::string trace_digest(const data::BatchTrace& trace) {
  Sha256 hash;
  for (std::uint64_t row = 0; row < trace.rows(); ++row) {
    const std::uint64_t batch = trace.batch_size(row);
    hash.add(std::as_bytes(std::span(&batch, 1)));
  }
  if (trace.is_sparse() || trace.has_minibatches()) {
    const std::string rows = trace.as_csv();
    hash.add(std::as_bytes(std::span(rows)));
  }
  return hash.hexadecimal();
}

// The C library takes other code on other processors, and rounds otherwise there: what it makes of
// some thousand arguments tells.
std::string mathematics_digest() {
  std::vector<double> results;
  for (int i = 1; i <= 4096; ++i) {
    const double x = i * 0.00173;
    results.insert(results.end(), {std::exp(-x), std::log(x), std::pow(0.999, x), std::sin(x),
                                   std::cos(x), std::exp(static_cast<float>(-x))});
  }
  return sha256(std::as_bytes(std::span<const double>(results)));
}

// All that rounds.
std::vector<ContextEntry> arithmetic_identity(const std::string& backend) {
  return {{"the version of Rubato", std::string(version) + " " + std::string(revision)},
          {"the compiler", std::string(compiler) + " " + std::string(flags)},
          {"the C library", ::gnu_get_libc_version()},
          {"the C library's mathematics", mathematics_digest()},
          {"the kernels", describe_kernels(backend)}};
}

}  // namespace

std::vector<ContextEntry> run_context(const RunOptions& options,
                                      const collectives::Topology& topology,
                                      const data::DataSource& source) {
  return {{"version", std::string(version)},
          {"revision", std::string(revision)},
          {"compiler", std::string(compiler)},
          {"build_type", std::string(build_type)},
          {"flags", std::string(flags)},
          {"kernels", describe_kernels(options.backend)},
          {"started", utc_time()},
          {"hosts", joined(topology.hosts())},
          {"ranks_per_host", joined(topology.ranks_per_node())},
          {"data", source.name},
          {"standardisation", describe(source.standardisation)},
          {"model", options.model},
          {"configuration", options.configuration}};
}

std::string configuration_of(const Checkpoint& checkpoint) {
  const auto found = std::ranges::find(checkpoint.context, "configuration", &ContextEntry::name);
  return found == checkpoint.context.end() ? std::string() : found->value;
}

bool is_trace_of(const Checkpoint& checkpoint, const data::BatchTrace& trace) {
  const ContextEntry entry{trace_entry, trace_digest(trace)};
  return std::ranges::find(checkpoint.identity, entry) != checkpoint.identity.end();
}

std::vector<ContextEntry> run_identity(const RunOptions& options, const data::DataSource& source,
                                       const data::BatchTrace& trace, const nn::Layout& layout) {
  std::vector<ContextEntry> identity = arithmetic_identity(options.backend);
  identity.insert(identity.end(), {{"the model's layout", layout.description()},
                                   {trace_entry, options.adaptive ? "chosen as the run goes on"
                                                                  : trace_digest(trace)},
                                   {training_set_entry, content_digest(source.train.get())},
                                   {test_set_entry, content_digest(source.test.get())}});
  if (options.augmentation == data::Augmentation::crop_flip) {
    identity.push_back({"the augmentation", "crop-flip"});
  }
  return identity;
}

std::vector<ContextEntry> evaluation_identity(const std::string& backend,
                                              const data::Dataset& test_set) {
  std::vector<ContextEntry> identity = arithmetic_identity(backend);
  identity.push_back({test_set_entry, content_digest(&test_set)});
  return identity;
}

std::optional<bool> has_same_test_set(const Checkpoint& checkpoint,
                                      const std::vector<ContextEntry>& evaluation) {
  const auto then = std::ranges::find(checkpoint.identity, test_set_entry, &ContextEntry::name);
  if (then == checkpoint.identity.end()) return std::nullopt;
  return std::ranges::find(evaluation, *then) != evaluation.end();
}

std::vector<collectives::NamedValue> named_values(const std::vector<ContextEntry>& entries) {
  std::vector<collectives::NamedValue> values;
  for (const ContextEntry& entry : entries) values.push_back({entry.name, entry.value});
  return values;
}

void require_same_run(const std::vector<ContextEntry>& checkpoint,
                      const std::vector<ContextEntry>& run, bool any_kernels) {
  constexpr std::array of_last_bits{"the version of Rubato", "the compiler", "the C library",
                                    "the C library's mathematics", "the kernels"};
  for (const ContextEntry& now : run) {
    const auto then = std::ranges::find(checkpoint, now.name, &ContextEntry::name);
    const std::string before = then == checkpoint.end() ? "(nothing)" : then->value;
    if (before == now.value) continue;
    const bool decides_last_bits = std::ranges::find(of_last_bits, now.name) != of_last_bits.end();
    if (decides_last_bits && any_kernels) continue;
    throw data::ContentError(
        now.name + " differs from the checkpoint's: found " + now.value + ", expected " + before +
        (decides_last_bits ? "; the last bits may differ: --allow-other-kernels accepts it"
                           : "; a run goes on with what it began with"));
  }
}

void require_same_course(const TrainingState& state, std::uint64_t seed, const std::string& rule) {
  if (state.seed != seed || state.rule != rule) {
    throw std::invalid_argument("the checkpoint is of seed " + std::to_string(state.seed) +
                                " and rule " + state.rule + ", the run of seed " +
                                std::to_string(seed) + " and rule " + rule);
  }
}

void require_passed(const data::TracePlan& plan, const data::Cursor& cursor) {
  if (plan.passes(cursor)) return;
  throw std::invalid_argument(
      "update " + std::to_string(cursor.update) +
      " of the checkpoint was cut, or ended its epoch, because the run was to end there; a run "
      "with another end has another update there: go on from an earlier checkpoint, or begin anew");
}

}  // namespace rubato::runtime
