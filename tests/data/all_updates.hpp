// The updates of a plan, to its end.
#pragma once

#include <utility>
#include <vector>

#include "data/trace_plan.hpp"

namespace rubato::data {

inline std::vector<PlannedUpdate> all_updates(const TracePlan& plan) {
  std::vector<PlannedUpdate> updates;
  Cursor cursor;
  while (auto update = plan.next(cursor)) {
    cursor = update->end;
    updates.push_back(std::move(*update));
  }
  return updates;
}

}  // namespace rubato::data
