// See report_facts.hpp.
#include "app/report_facts.hpp"

#include <algorithm>
#include <optional>
#include <sstream>

#include "app/option_value.hpp"

namespace rubato::app {
namespace {

constexpr std::size_t most_values = 3;

std::optional<std::string> value_of(const std::vector<RunFact>& facts, const std::string& name) {
  for (const auto& fact : facts) {
    if (fact.name == name) return fact.value;
  }
  return std::nullopt;
}

std::vector<std::string> names_of(const std::vector<std::vector<RunFact>>& lists) {
  std::vector<std::string> names;
  for (const auto& facts : lists) {
    for (const auto& fact : facts) {
      const bool is_new = std::find(names.begin(), names.end(), fact.name) == names.end();
      if (is_new) names.push_back(fact.name);
    }
  }
  return names;
}

std::string told(std::vector<std::string> values) {
  const std::size_t count = values.size();
  if (count <= most_values) return joined(values, "; ");
  values.resize(most_values);
  return joined(values, "; ") + "; ... (" + std::to_string(count) + " values)";
}

// The lines NAME = VALUE of an ini file.
std::vector<RunFact> lines_of(const std::string& configuration) {
  std::vector<RunFact> lines;
  std::istringstream in(configuration);
  for (std::string line; std::getline(in, line);) {
    const auto equals = line.find(" = ");
    if (line.starts_with('#') || equals == std::string::npos) continue;
    lines.push_back({line.substr(0, equals), line.substr(equals + 3)});
  }
  return lines;
}

}  // namespace

std::vector<RunFact> environment_of(const ReportRuns& runs) {
  std::vector<std::vector<RunFact>> lists;
  for (const auto* run : runs) lists.push_back(run->curve.facts);
  std::vector<RunFact> environment;
  for (const auto& name : names_of(lists)) {
    std::vector<std::string> values;
    for (const auto& facts : lists) {
      const auto value = value_of(facts, name);
      if (!value || std::find(values.begin(), values.end(), *value) != values.end()) continue;
      values.push_back(*value);
    }
    environment.push_back({name, told(std::move(values))});
  }
  return environment;
}

SharedOptions options_of(const ReportRuns& runs) {
  std::vector<std::vector<RunFact>> lists;
  for (const auto* run : runs) lists.push_back(lines_of(run->configuration));
  SharedOptions options;
  options.values.resize(runs.size());
  for (const auto& name : names_of(lists)) {
    const auto first = value_of(lists.front(), name);
    const bool is_shared = first && std::all_of(lists.begin(), lists.end(), [&](const auto& list) {
                             return value_of(list, name) == first;
                           });
    if (is_shared) {
      options.shared.push_back({name, *first});
      continue;
    }
    options.names.push_back(name);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      options.values[i].push_back(value_of(lists[i], name).value_or(""));
    }
  }
  return options;
}

}  // namespace rubato::app
