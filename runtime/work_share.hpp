// Which of an update's minibatches this rank runs, as the run's --assignment says; a balanced one
// learns from the updates that were run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/substep_plan.hpp"
#include "data/trace_plan.hpp"
#include "runtime/rank_speeds.hpp"

namespace rubato::runtime {

class WorkShare {
 public:
  WorkShare(data::Assignment assignment, std::size_t rank, std::size_t ranks);

  struct Minibatches {
    std::vector<std::size_t> slots = {};  // this rank's: offsets into update.minibatches, ascending
    std::size_t most = 0;                 // how many the rank with the most of them has
    std::vector<std::size_t> owners = {};  // the rank of each of update.minibatches, if told
  };
  // To be asked once for each update, on all ranks in the same order.
  enum class Owners { told, any };
  Minibatches of(const data::PlannedUpdate& update, Owners owners = Owners::any);

  // What an update with whole minibatches of so many samples has told: the same times on all ranks.
  void learn(std::span<const RankTime> times, std::uint64_t minibatch);

 private:
  data::Assignment assignment_;
  std::size_t rank_;
  std::size_t ranks_;
  RankSpeeds speeds_;
};

}  // namespace rubato::runtime
