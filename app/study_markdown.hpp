// The results of a study as a page of Markdown: a table for each group, in the form of the
// published study of LARS on CIFAR-10.
//
//   | Batch | lr | top-1 accuracy, best | closest to the base line | Time to it | Time to train |
//
// Several seeds make one row: the mean, and the smallest and largest in brackets. The row of the
// baseline says "(base line)", one whose runs diverged "(nan)", behind the best accuracy before. A
// row whose runs diverged in part has the mean of the others, and says how many: "(1 of 3 nan)".
#pragma once

#include <string>

#include "app/study_results.hpp"

namespace rubato::app {

// The times are in the last two columns and nowhere else.
std::string results_as_markdown(const StudyResults& results);

}  // namespace rubato::app
