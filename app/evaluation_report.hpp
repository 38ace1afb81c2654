// What rubato evaluate prints: the whole test set, each class, and what the run itself has found.
//
// Nothing of it depends on ranks, hosts or time.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "app/evaluation_history.hpp"
#include "runtime/evaluator.hpp"

namespace rubato::app {

struct EvaluationFacts {
  std::string file;  // the checkpoint
  std::uint64_t update = 0;
  std::uint64_t epoch = 0;
  std::uint64_t training_samples = 0;  // used until then
  std::string model;
  std::uint64_t parameters = 0;
  std::string data;
  std::uint64_t test_samples = 0;
  std::optional<bool> is_runs_test_set;  // nothing: not known
  runtime::Evaluator::DetailedResult result;
  std::optional<std::vector<PastEvaluation>> history;  // nothing: not asked for
};

// Of the highest accuracy, the first; nothing where there is none.
std::optional<PastEvaluation> best_of(const std::vector<PastEvaluation>& history);

void print_as_text(std::ostream& out, const EvaluationFacts& facts);
void print_as_json(std::ostream& out, const EvaluationFacts& facts);

}  // namespace rubato::app
