// State that is a few numbers, as name-value pairs: what a checkpoint stores and gives back.
//
// Names are matched, not places: a file may list them in any order. Whatever is missing, unknown,
// twice there or not finite is an error, so a checkpoint of another optimizer is never taken for
// one's own.
#pragma once

#include <string>
#include <vector>

#include "optim/optimizer.hpp"

namespace rubato::optim {

// The values of `names`, in that order. Throws std::invalid_argument, naming `owner` and the scalar
// at fault, unless `scalars` holds exactly these names, each once and finite.
std::vector<double> scalar_values(const std::string& owner, const std::vector<std::string>& names,
                                  const std::vector<NamedScalar>& scalars);

// The same scalars with `prefix` before each name; and the way back, for those whose name begins
// with it.
std::vector<NamedScalar> add_prefix(const std::string& prefix, std::vector<NamedScalar> scalars);
std::vector<NamedScalar> select_prefix(const std::string& prefix,
                                       const std::vector<NamedScalar>& scalars);

}  // namespace rubato::optim
