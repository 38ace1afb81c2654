// From the words after --data to a training set and a test set.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset.hpp"

namespace rubato::data {

struct DataOptions {
  std::string spec;  // "digits", "fashion-mnist:DIR", "csv:FILE", ... (see describe_data_specs)
  std::optional<std::string> test_spec = {};  // a source of its own for the test set
  std::optional<std::size_t> test_every =
      {};  // every K-th sample (index mod K = K-1) tests, the others train
  std::optional<std::string> label_column =
      {};  // csv only: name or 0-based number; default the last column
  // Constants of the standardisation, for values in [0, 1], in place of those that the data have:
  // one for each channel, or one for all. Empty: as the data have them.
  std::vector<float> mean = {};
  std::vector<float> deviation = {};  // > 0
  bool operator==(const DataOptions&) const = default;
};

struct DataSource {
  std::string name;
  std::shared_ptr<const Dataset> train;
  std::shared_ptr<const Dataset> test;  // may be null: the source has none and none was asked for
  Standardisation standardisation;      // as applied, for the record of the run
};

// Opens and checks everything. Throws std::invalid_argument (a wrong spec, with the nearest valid
// name), MissingFileError (with how to get the files) or ContentError.
DataSource open_data(const DataOptions& options);

// The names that a spec may begin with: "digits", "synthetic", ...
std::vector<std::string> data_spec_names();

// One line per kind of source, for --help.
std::vector<std::string> describe_data_specs();

}  // namespace rubato::data
