// DIR/tensorboard/: what TensorBoard shows of a run. Steps are updates.
//
//   train/loss  train/accuracy  train/batch_size  train/learning_rate  train/gain
//   train/noise_scale  train/efficiency  train/samples_per_second      after each update
//   test/loss  test/accuracy                                           after each evaluation
//
// A start of the run writes a file of its own, as somebody may be reading the one before. It begins
// with the word that what was told of later updates than the one it goes on from is void, and its
// name comes after those of the files that are there, whatever the clock says.
//
// Values are floats there. One that is not finite is written as it is: TensorBoard marks it.
// A full disk ends nothing: records wait in memory (line_file.hpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "runtime/line_file.hpp"
#include "runtime/run_log.hpp"

namespace rubato::runtime {

class TensorboardFile final : public RunLog {
 public:
  // Makes the directory if it is not there. Throws OutputError.
  TensorboardFile(const std::filesystem::path& directory, std::uint64_t first_update);

  void update(const StepReport& report) override;
  void evaluation(const EvaluationReport& report) override;
  void end(const RunEnd& end) override;  // throws WriteError if records are missing in the file

  // As MetricsFile's.
  std::optional<std::string> take_failure() { return records_.take_failure(); }
  void sync() { records_.sync(); }

 private:
  LineFile records_;
};

// Unless it is there; before anything of a run that is replaced goes, so that a place where it
// cannot be is refused in time. Throws OutputError.
void make_event_directory(const std::filesystem::path& directory);

// Those of a run that is replaced, and the directory if nothing else is in it. Throws
// std::filesystem::filesystem_error.
void remove_event_files(const std::filesystem::path& directory);

}  // namespace rubato::runtime
