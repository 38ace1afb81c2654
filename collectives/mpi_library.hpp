// Which MPI library runs, for reports.
#pragma once

#include <string>

namespace rubato::collectives {

struct MpiLibrary {
  std::string name;          // the library's own words up to the first comma: "Open MPI v4.1.4"
  std::string thread_level;  // granted: "single", "funneled", "serialized" or "multiple"
};

MpiLibrary mpi_library();  // local; inside a session

}  // namespace rubato::collectives
