// As JSON, which keeps every bit of a finite number; what is not finite has a name there.
#include "runtime/named_sums.hpp"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "data/errors.hpp"

namespace rubato::runtime {

namespace {

using nlohmann::json;

json part_to_json(double part) {
  if (std::isfinite(part)) return part;
  return std::isnan(part) ? "nan" : part > 0 ? "inf" : "-inf";
}

double part_of(const json& value) {
  if (value.is_number()) return value.get<double>();
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  throw data::ContentError("sums: found " + value.dump() + ", expected a number");
}

}  // namespace

void add(const NamedSums& from, NamedSums& to) {
  for (const auto& [name, sum] : from) to[name] += sum;
}

void sum_over_ranks(const collectives::Communicator& communicator,
                    std::span<NamedSums* const> sums) {
  json mine = json::array();
  for (const NamedSums* one : sums) mine.push_back(text_of(*one));
  for (NamedSums* one : sums) one->clear();
  for (const std::string& text : communicator.gather(mine.dump())) {
    const json of_rank = json::parse(text);
    for (std::size_t i = 0; i < sums.size(); ++i) add(named_sums(of_rank.at(i)), *sums[i]);
  }
}

std::string text_of(const NamedSums& sums) {
  json object = json::object();
  for (const auto& [name, sum] : sums) {
    json& parts = object[name] = json::array();
    for (const double part : sum.parts()) parts.push_back(part_to_json(part));
  }
  return object.dump();
}

NamedSums named_sums(const std::string& text) {
  const json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) throw data::ContentError("sums: found no list of names");
  NamedSums sums;
  for (const auto& [name, parts] : object.items()) {
    ExactSum& sum = sums[name];
    for (const auto& part : parts) sum += part_of(part);
  }
  return sums;
}

}  // namespace rubato::runtime
