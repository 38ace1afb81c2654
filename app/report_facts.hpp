// What the runs of a report were made of: where they ran, with which options.
#pragma once

#include <string>
#include <vector>

#include "app/report_content.hpp"

namespace rubato::app {

using ReportRuns = std::vector<const ReportRun*>;

// What the runs say of program, host, data and model, each name once; of different values the first
// three and how many there are.
std::vector<RunFact> environment_of(const ReportRuns& runs);

struct SharedOptions {
  std::vector<RunFact> shared;                   // the same in all runs
  std::vector<std::string> names;                // of the others
  std::vector<std::vector<std::string>> values;  // of these, for each run; empty where it has none
};

// Of their config.ini.
SharedOptions options_of(const ReportRuns& runs);

}  // namespace rubato::app
