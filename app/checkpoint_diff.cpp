// See checkpoint_diff.hpp. Numbers are compared as bits: 0 and -0 differ, and a not-a-number equals
// itself.
#include "app/checkpoint_diff.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iomanip>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "app/checkpoint_files.hpp"
#include "app/checkpoint_show.hpp"

namespace rubato::app {
namespace {

using runtime::NamedTensor;

// Enough digits to tell any two values apart.
template <class Number>
std::string exactly(Number number) {
  std::ostringstream text;
  text << std::setprecision(std::numeric_limits<Number>::max_digits10) << number;
  return text.str();
}

std::string both(const std::string& first, const std::string& second) {
  return first + " in A, " + second + " in B";
}

// "[1, 2]" of the element at `place` in C order.
std::string index_text(std::size_t place, const std::vector<std::size_t>& shape) {
  std::vector<std::size_t> index(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0; place /= shape[axis]) {
    index[axis] = place % shape[axis];
  }
  return shape_text(index);
}

std::string describe(const NamedTensor& first, const NamedTensor& second) {
  if (first.shape != second.shape) {
    return "shape " + both(shape_text(first.shape), shape_text(second.shape));
  }
  std::size_t count = 0;
  std::size_t begin = 0;
  double largest = 0;
  for (std::size_t i = 0; i < first.values.size(); ++i) {
    const float a = first.values[i];
    const float b = second.values[i];
    if (std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b)) continue;
    if (count++ == 0) begin = i;
    const double gap = std::abs(static_cast<double>(a) - static_cast<double>(b));
    if (std::isnan(gap) || gap > largest) largest = std::isnan(largest) ? largest : gap;
  }
  if (count == 0) return {};
  return std::to_string(count) + " of " + std::to_string(first.values.size()) +
         " elements, largest difference " + exactly(largest) + "; first " +
         index_text(begin, first.shape) + ": " +
         both(exactly(first.values[begin]), exactly(second.values[begin]));
}

std::string describe(const optim::NamedScalar& first, const optim::NamedScalar& second) {
  const bool is_equal =
      std::bit_cast<std::uint64_t>(first.value) == std::bit_cast<std::uint64_t>(second.value);
  return is_equal ? "" : both(exactly(first.value), exactly(second.value));
}

std::string describe(const runtime::NamedExponent& first, const runtime::NamedExponent& second) {
  if (first.exponent == second.exponent) return {};
  return both("unit 2^" + std::to_string(first.exponent), "2^" + std::to_string(second.exponent));
}

class Comparison {
 public:
  void number(const std::string& part, const std::string& name, std::uint64_t first,
              std::uint64_t second) {
    if (first != second) add(part, name, both(std::to_string(first), std::to_string(second)));
  }

  void text(const std::string& name, const std::string& first, const std::string& second) {
    if (first != second) add("rule", name, both(printable(first), printable(second)));
  }

  // Things with names, in whatever order they come.
  template <class Named>
  void list(const std::string& part, const std::vector<Named>& first,
            const std::vector<Named>& second) {
    const auto a = by_name(first);
    const auto b = by_name(second);
    std::set<std::string> names;
    for (const auto& [name, item] : a) names.insert(name);
    for (const auto& [name, item] : b) names.insert(name);
    for (const std::string& name : names) {
      const auto in_a = a.find(name);
      const auto in_b = b.find(name);
      if (in_a == a.end()) {
        add(part, name, "only in B");
      } else if (in_b == b.end()) {
        add(part, name, "only in A");
      } else {
        add(part, name, describe(*in_a->second, *in_b->second));
      }
    }
  }

  std::vector<Difference> found;

 private:
  template <class Named>
  static std::map<std::string, const Named*> by_name(const std::vector<Named>& items) {
    std::map<std::string, const Named*> result;
    for (const Named& item : items) result[item.name] = &item;
    return result;
  }

  void add(const std::string& part, const std::string& name, const std::string& description) {
    if (!description.empty()) found.push_back({part, name, description});
  }
};

}  // namespace

std::vector<Difference> differences(const runtime::TrainingState& first,
                                    const runtime::TrainingState& second) {
  Comparison comparison;
  comparison.number("seed", "", first.seed, second.seed);
  comparison.text("", first.rule, second.rule);
  const data::Cursor& a = first.cursor;
  const data::Cursor& b = second.cursor;
  comparison.number("cursor", "update", a.update, b.update);
  comparison.number("cursor", "row", a.row, b.row);
  comparison.number("cursor", "epoch", a.epoch, b.epoch);
  comparison.number("cursor", "position", a.position, b.position);
  comparison.number("cursor", "minibatch", a.minibatch, b.minibatch);
  comparison.number("cursor", "samples", a.samples, b.samples);
  const runtime::SampleAudit& left = first.audit;
  const runtime::SampleAudit& right = second.audit;
  comparison.number("audit", "epoch", left.epoch, right.epoch);
  comparison.number("audit", "epoch_samples", left.epoch_samples, right.epoch_samples);
  comparison.number("audit", "epoch_digest", left.epoch_digest, right.epoch_digest);
  comparison.number("audit", "run_digest", left.run_digest, right.run_digest);
  comparison.list("elastic", first.scalars, second.scalars);
  comparison.list("model", first.model, second.model);
  comparison.list("exact_exponent", first.exact_exponents, second.exact_exponents);
  comparison.list("optimizer", first.optimizer, second.optimizer);
  return std::move(comparison.found);
}

void print_differences(std::ostream& out, std::span<const Difference> differences) {
  if (differences.empty()) out << "equal\n";
  for (const Difference& one : differences) {
    out << one.part << (one.name.empty() ? "" : " ") << one.name << ": " << one.description << '\n';
  }
}

void print_differences_as_json(std::ostream& out, std::span<const Difference> differences) {
  auto list = nlohmann::ordered_json::array();
  for (const Difference& one : differences) {
    list.push_back({{"part", one.part}, {"name", one.name}, {"description", one.description}});
  }
  const nlohmann::ordered_json document{{"equal", differences.empty()}, {"differences", list}};
  out << document.dump(1, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace)
      << '\n';
}

}  // namespace rubato::app
