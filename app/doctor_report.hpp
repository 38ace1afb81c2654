// What the doctor found, for people and for programs.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "app/rank_facts.hpp"
#include "app/self_test.hpp"

namespace rubato::app {

struct Diagnosis {
  std::string thread_level = {};
  std::vector<RankFacts> ranks = {};
  std::vector<Finding> placement = {};
  std::vector<CheckResult> checks = {};

  // A check failed, or the ranks do not fit together. What merely costs speed breaks nothing.
  bool is_broken() const;
};

void print_text(std::ostream& out, const Diagnosis& diagnosis);
void print_json(std::ostream& out, const Diagnosis& diagnosis);

}  // namespace rubato::app
