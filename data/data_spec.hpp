// The words after --data taken apart: KIND, KIND:PLACE, KIND:PLACE,KEY=VALUE,... or
// KIND:KEY=VALUE,...
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset.hpp"

namespace rubato::data {

struct DataSpec {
  std::string kind;
  std::string place;  // a file or directory, may be empty
  std::map<std::string, std::string> settings;
};

// Splits off the settings whose names are in `known_settings`, from the end; a comma elsewhere
// belongs to the place. Throws std::invalid_argument for a setting that is not known (text without
// a place) or given twice.
DataSpec parse_data_spec(const std::string& spec, const std::vector<std::string>& known_settings);

// The part before the first colon.
std::string data_spec_kind(const std::string& spec);

// "CxHxW", each at least 1 and at most 65536. Throws std::invalid_argument naming `what`.
SampleShape parse_shape(const std::string& text, const std::string& what);

// A whole number from `least` to `most`. Throws std::invalid_argument naming `what`.
std::uint64_t parse_whole_number(const std::string& text, const std::string& what,
                                 std::uint64_t least, std::uint64_t most);

}  // namespace rubato::data
