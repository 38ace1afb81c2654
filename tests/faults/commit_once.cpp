// usage: commit_once UPDATE SEED VALUES RUN_DIRECTORY...
//
// Commits one checkpoint whose model has VALUES values to each run, keeping one besides update 0:
// the smallest program in which every system call of a commit can be made to fail. Exit status 0,
// or 74 with the sentence of the first failure.
#include <iostream>
#include <string>

#include "runtime/checkpoint_store.hpp"
#include "runtime/errors.hpp"

int main(int count, char** arguments) {
  using namespace rubato::runtime;
  Checkpoint checkpoint;
  checkpoint.state.cursor.update = std::stoull(arguments[1]);
  checkpoint.state.seed = std::stoull(arguments[2]);
  checkpoint.state.rule = "adascale";
  const std::size_t values = std::stoull(arguments[3]);
  checkpoint.state.model = {{"fc.weight", {values}, std::vector<float>(values, 0.5F)}};
  try {
    for (int i = 4; i < count; ++i) {
      CheckpointStore(arguments[i], /*keep=*/1)
          .commit(checkpoint.state.cursor.update, encode_checkpoint(checkpoint));
    }
  } catch (const WriteError& error) {
    std::cerr << error.what() << "\n";
    return 74;
  }
  return 0;
}
