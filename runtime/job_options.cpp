// See job_options.hpp.
#include "runtime/job_options.hpp"

namespace rubato::runtime {

RunOptions run_options(const JobOptions& options) {
  RunOptions run;
  run.seed = options.seed;
  run.sum = options.sum;
  run.backend = options.backend;
  run.isa = options.isa;
  run.assignment = options.assignment;
  run.allreduce = options.allreduce;
  run.output = options.directory;
  run.output_mode = options.overwrites ? OutputMode::overwrite : OutputMode::resume;
  run.accepts_other_kernels = options.accepts_other_kernels;
  run.checkpoint_every = options.checkpoint_every;
  run.kept_checkpoints = options.kept_checkpoints;
  run.max_seconds = options.max_seconds;
  run.stop_request = options.stop_request;
  return run;
}

}  // namespace rubato::runtime
