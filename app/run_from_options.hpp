// The run that the options of rubato train describe.
#pragma once

#include "app/options.hpp"
#include "data/data_source.hpp"
#include "runtime/run_options.hpp"

namespace rubato::app {

// `options` are of train_table(). Throws UsageError for a name that is not known (with the nearest)
// and for a combination that makes no sense; opens no file.
runtime::RunOptions run_from(const Options& options);

// The part of it that says which data. Throws UsageError for a list that is none of numbers; `data`
// must have a value.
data::DataOptions data_options(const Options& options);

// What --resume and --overwrite say of the output directory.
runtime::OutputMode output_mode(const Options& options);

}  // namespace rubato::app
