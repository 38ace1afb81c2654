// What `rubato prove` says: a line for each kill as it happens and the verdict, or one JSON
// document.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "app/killed_run.hpp"
#include "app/run_comparison.hpp"

namespace rubato::app {

struct Proof {
  std::uint64_t seed = 0;  // of the kills
  std::uint64_t straight_ranks = 1;
  double straight_seconds = 0;
  std::uint64_t updates = 0;  // of the straight run
  bool is_fast = false;       // kills are partly planned stops
  std::uint64_t checkpoint_every = 1;
  std::vector<KillRecord> kills{};
  std::uint64_t last_ranks = 1;  // of the start that came to the end
  std::string broken_promise{};  // a clause, with the kill's number; then nothing is compared
  RunComparison comparison{};

  bool is_equal() const { return broken_promise.empty() && comparison.first_difference.empty(); }
};

void print_straight_run(std::ostream& out, const Proof& proof);  // and the heading of the kills
void print_kill(std::ostream& out, std::uint64_t number, const KillRecord& record);
void print_verdict(std::ostream& out, const Proof& proof);

void print_as_json(std::ostream& out, const Proof& proof);

}  // namespace rubato::app
