// See checkpoint_show.hpp.
#include "app/checkpoint_show.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "app/checkpoint_list.hpp"

namespace rubato::app {
namespace {

using runtime::ContextEntry;
using runtime::NamedTensor;
using runtime::TrainingState;

// A heading, then one entry a line; further lines of an entry stand below its first.
void print_entries(std::ostream& out, const std::string& heading,
                   const std::vector<ContextEntry>& entries) {
  if (entries.empty()) return;
  std::size_t width = 0;
  for (const ContextEntry& entry : entries) width = std::max(width, entry.name.size());
  out << '\n' << heading << '\n';
  for (const ContextEntry& entry : entries) {
    std::istringstream lines(printable(entry.value));
    std::string line;
    std::getline(lines, line);
    out << "  " << std::left << std::setw(static_cast<int>(width)) << entry.name << std::right
        << "  " << line << '\n';
    while (std::getline(lines, line)) {
      out << (line.empty() ? "" : std::string(width + 4, ' ') + line) << '\n';
    }
  }
}

std::optional<std::int32_t> exponent_of(const TrainingState& state, const std::string& tensor) {
  for (const auto& unit : state.exact_exponents) {
    if (unit.name == tensor) return unit.exponent;
  }
  return std::nullopt;
}

void print_tensors(std::ostream& out, const std::string& heading,
                   const std::vector<NamedTensor>& tensors, const TrainingState& state,
                   bool has_units) {
  if (tensors.empty()) return;
  std::size_t width = heading.size();
  for (const NamedTensor& tensor : tensors) width = std::max(width, tensor.name.size());
  const auto name_width = static_cast<int>(width + 2);
  out << '\n'
      << std::left << std::setw(name_width) << heading << std::setw(20) << "shape" << std::right
      << std::setw(13) << "least" << std::setw(13) << "largest" << std::setw(13) << "norm"
      << (has_units ? "  unit" : "") << '\n';
  for (const NamedTensor& tensor : tensors) {
    const TensorRange range = range_of(tensor.values);
    out << std::left << std::setw(name_width) << tensor.name << std::setw(20)
        << shape_text(tensor.shape) << std::right << std::setprecision(6) << std::setw(13)
        << range.least << std::setw(13) << range.largest << std::setw(13) << range.norm;
    if (const auto exponent = exponent_of(state, tensor.name); has_units && exponent) {
      out << "  2^" << *exponent;
    }
    if (range.not_finite > 0) out << "  (" << range.not_finite << " not finite)";
    out << '\n';
  }
}

nlohmann::ordered_json json_of(const std::vector<ContextEntry>& entries) {
  auto object = nlohmann::ordered_json::object();
  for (const ContextEntry& entry : entries) object[entry.name] = entry.value;
  return object;
}

nlohmann::ordered_json json_of(const std::vector<NamedTensor>& tensors, const TrainingState& state,
                               bool has_units) {
  auto list = nlohmann::ordered_json::array();
  for (const NamedTensor& tensor : tensors) {
    const TensorRange range = range_of(tensor.values);
    list.push_back({{"name", tensor.name},
                    {"shape", tensor.shape},
                    {"least", range.least},
                    {"largest", range.largest},
                    {"norm", range.norm},
                    {"not_finite", range.not_finite}});
    const auto exponent = exponent_of(state, tensor.name);
    if (has_units && exponent) list.back()["exact_exponent"] = *exponent;
  }
  return list;
}

}  // namespace

TensorRange range_of(std::span<const float> values) {
  TensorRange range;
  bool is_first = true;
  double squares = 0;
  for (const float value : values) {
    if (!std::isfinite(value)) {
      ++range.not_finite;
      continue;
    }
    range.least = is_first ? value : std::min(range.least, value);
    range.largest = is_first ? value : std::max(range.largest, value);
    squares += static_cast<double>(value) * static_cast<double>(value);
    is_first = false;
  }
  range.norm = std::sqrt(squares);
  return range;
}

std::string shape_text(const std::vector<std::size_t>& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  }
  return text + "]";
}

void show_as_text(std::ostream& out, const NamedCheckpoint& named) {
  const auto& [state, identity, context] = named.checkpoint;
  out << named.file.string() << ": " << size_text(named.file_bytes) << ", digest "
      << runtime::state_digest(state) << '\n'
      << "\nposition\n"
      << "  updates made " << state.cursor.update << ", samples used " << state.cursor.samples
      << ", epoch " << state.cursor.epoch << ", row " << state.cursor.row << " of the trace\n"
      << "  next: position " << state.cursor.position << " of the epoch's order, minibatch "
      << state.cursor.minibatch << " of it\n"
      << "  used of epoch " << state.audit.epoch << ": " << state.audit.epoch_samples
      << " samples, audit " << std::hex << state.audit.epoch_digest << "; of the run: audit "
      << state.audit.run_digest << std::dec << '\n'
      << "  rule " << printable(state.rule) << ", seed " << state.seed << '\n';
  for (const auto& scalar : state.scalars) {
    out << "  " << scalar.name << ' ' << std::setprecision(17) << scalar.value << '\n';
  }
  print_tensors(out, "model", state.model, state, /*has_units=*/true);
  print_tensors(out, "optimizer", state.optimizer, state, /*has_units=*/false);
  print_entries(out, "identity (what a run that goes on from here must share)", identity);
  print_entries(out, "context", context);
}

void show_as_json(std::ostream& out, const NamedCheckpoint& named) {
  const auto& [state, identity, context] = named.checkpoint;
  auto scalars = nlohmann::ordered_json::object();
  for (const auto& scalar : state.scalars) scalars[scalar.name] = scalar.value;
  const nlohmann::ordered_json document{
      {"file", named.file.string()},
      {"bytes", named.file_bytes},
      {"digest", runtime::state_digest(state)},
      {"seed", state.seed},
      {"rule", state.rule},
      {"cursor",
       {{"update", state.cursor.update},
        {"row", state.cursor.row},
        {"epoch", state.cursor.epoch},
        {"position", state.cursor.position},
        {"minibatch", state.cursor.minibatch},
        {"samples", state.cursor.samples}}},
      {"audit",
       {{"epoch", state.audit.epoch},
        {"epoch_samples", state.audit.epoch_samples},
        {"epoch_digest", state.audit.epoch_digest},
        {"run_digest", state.audit.run_digest}}},
      {"elastic", scalars},
      {"model", json_of(state.model, state, /*has_units=*/true)},
      {"optimizer", json_of(state.optimizer, state, /*has_units=*/false)},
      {"identity", json_of(identity)},
      {"context", json_of(context)}};
  out << document.dump(1, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace)
      << '\n';
}

}  // namespace rubato::app
