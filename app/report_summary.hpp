// The plots of a study that show a number for each of its cells: how well they did and how soon.
#pragma once

#include <optional>

#include "app/figure.hpp"
#include "app/report_content.hpp"

namespace rubato::app {

// The best test accuracy over the batch sizes (or for each trace), a line for each group: the mean
// over the seeds that came to their end, and their range. Where none did, a cross at the mean of
// what they had reached, or at the bottom.
Figure accuracy_figure(const ReportStudy& study);

// The same of the seconds of training until the test accuracy (of 1) is reached first, over the
// seeds that reach it.
Figure time_figure(const ReportStudy& study, double accuracy);

// How far below the best an accuracy (of 1) is good enough to ask for the time to it.
inline constexpr double target_distance = 0.01;

// That far below the baseline; none without a baseline.
std::optional<double> target_accuracy(const StudyResults& results);

}  // namespace rubato::app
