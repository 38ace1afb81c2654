// rubato checkpoint diff: where two training states differ, bit by bit.
//
// Compared is what the digest covers: two checkpoints have no difference exactly if their digests
// are equal. Identity and context are not compared.
#pragma once

#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "runtime/training_state.hpp"

namespace rubato::app {

struct Difference {
  std::string part;  // "cursor", "model", ...
  std::string name;  // the field or tensor; may be empty
  std::string
      description;  // "3 in A, 4 in B"; of tensors how many elements, the first, the largest
};

std::vector<Difference> differences(const runtime::TrainingState& first,
                                    const runtime::TrainingState& second);

// One line each; "equal" if there are none.
void print_differences(std::ostream& out, std::span<const Difference> differences);
void print_differences_as_json(std::ostream& out, std::span<const Difference> differences);

}  // namespace rubato::app
