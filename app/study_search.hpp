// The cell of a study that somebody means: "batch=1024,optimizer=lars,seed=1".
//
// A name is one of the study's axes (batch, trace, variant, an option of the grid) or an option of
// its cells, given or not; numbers are compared as numbers, other values as they are written.
#pragma once

#include <filesystem>
#include <string>

namespace rubato::app {

// Its directory in the study of `study_directory` (what rubato study has made). Throws
// data::MissingFileError if that is no study; UsageError for a condition that is not of the form
// NAME=VALUE, for a name that is not known (with the nearest), and where no cell or more than one
// meets them all; data::ContentError for a damaged study.ini.
std::filesystem::path find_cell(const std::filesystem::path& study_directory,
                                const std::string& conditions);

}  // namespace rubato::app
