// How many samples a second the updates take in. The first update of a run is left out: it also
// starts the kernels, touches all memory and finds the units of the exact sum, which may take
// longer than a hundred updates.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/step_report.hpp"

namespace rubato::app {

class SampleRate {
 public:
  void add(const runtime::StepReport& report);

  // Of all updates but the first; nothing before the second.
  std::optional<double> overall() const;
  // Of the updates since the last call, and forgets them; nothing if there were none.
  std::optional<double> take();

 private:
  struct Sum {
    std::uint64_t samples = 0;
    double seconds = 0;
    std::optional<double> rate() const;
  };
  std::optional<std::uint64_t> samples_so_far_;
  Sum overall_;
  Sum recent_;
};

}  // namespace rubato::app
