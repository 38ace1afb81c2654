// Name-value pairs, matched by name. The lists have a handful of entries, so a search through them
// is the simplest.
#include "optim/named_scalars.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace rubato::optim {
namespace {

[[noreturn]] void refuse(const std::string& owner, const std::string& name,
                         const std::string& problem) {
  throw std::invalid_argument("state of " + owner + ": scalar '" + name + "' " + problem +
                              "; it was saved by another optimizer or is damaged");
}

double find_value(const std::string& owner, const std::string& name,
                  const std::vector<NamedScalar>& scalars) {
  const auto has_name = [&name](const NamedScalar& scalar) { return scalar.name == name; };
  const auto found = std::find_if(scalars.begin(), scalars.end(), has_name);
  if (found == scalars.end()) refuse(owner, name, "is missing");
  if (std::find_if(found + 1, scalars.end(), has_name) != scalars.end()) {
    refuse(owner, name, "is there twice");
  }
  if (!std::isfinite(found->value)) refuse(owner, name, "is not a finite number");
  return found->value;
}

}  // namespace

std::vector<double> scalar_values(const std::string& owner, const std::vector<std::string>& names,
                                  const std::vector<NamedScalar>& scalars) {
  for (const NamedScalar& scalar : scalars) {
    if (std::find(names.begin(), names.end(), scalar.name) == names.end()) {
      refuse(owner, scalar.name, "is unknown");
    }
  }
  std::vector<double> values;
  for (const std::string& name : names) values.push_back(find_value(owner, name, scalars));
  return values;
}

std::vector<NamedScalar> add_prefix(const std::string& prefix, std::vector<NamedScalar> scalars) {
  for (NamedScalar& scalar : scalars) scalar.name = prefix + scalar.name;
  return scalars;
}

std::vector<NamedScalar> select_prefix(const std::string& prefix,
                                       const std::vector<NamedScalar>& scalars) {
  std::vector<NamedScalar> selected;
  for (const NamedScalar& scalar : scalars) {
    if (scalar.name.compare(0, prefix.size(), prefix) != 0) continue;
    selected.push_back({scalar.name.substr(prefix.size()), scalar.value});
  }
  return selected;
}

}  // namespace rubato::optim
