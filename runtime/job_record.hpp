// What a checkpoint of a job holds besides the state of the training: how far the program has come,
// its loaders' places, its accumulators' sums. There is no rank in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/trace_plan.hpp"
#include "runtime/job_progress.hpp"
#include "runtime/named_sums.hpp"

namespace rubato::runtime {

struct AccumulatorRecord {
  std::optional<std::uint64_t> epoch;  // in which it is made; nothing: outside of epochs
  std::uint64_t number = 0;            // of those made there, in the order of the program
  NamedSums sums;
  // What each synchronized() has shown, outside of epochs and in the one under way: a program that
  // runs again is shown the same again.
  std::vector<NamedSums> shown_outside;
  std::vector<NamedSums> shown_in_epoch;
};

struct JobRecord {
  std::uint64_t restarts = 0;  // how often the job has gone on
  JobProgress::Done done;
  std::vector<data::Cursor> loaders;  // in the order in which they are made
  std::vector<AccumulatorRecord> accumulators;
};

std::string text_of(const JobRecord& record);
// The way back. Throws data::ContentError.
JobRecord job_record(const std::string& text);

}  // namespace rubato::runtime
