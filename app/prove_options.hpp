// The options of `rubato prove`, and what they describe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/options.hpp"

namespace rubato::app {

OptionTable prove_table();

struct ProvePlan {
  std::vector<std::string> launcher;  // mpirun
  std::vector<std::string> train;     // options of `rubato train`, checked
  std::uint64_t kills = 10;
  std::uint64_t seed = 0;
  std::vector<std::uint64_t> ranks;  // to draw from
  std::uint64_t straight_ranks = 1;
  std::optional<std::uint64_t> checkpoint_every;
  std::optional<std::string> kept_directory;
  bool wants_json = false;
};

// "1,2,3". Throws UsageError.
std::vector<std::uint64_t> parse_rank_list(const std::string& text);

// Of `own -- train`. Throws UsageError: no "--", what `rubato train` itself would say of its
// options, and those of its options that prove gives itself.
ProvePlan prove_plan(const Options& options, const std::vector<std::string>& train);

}  // namespace rubato::app
