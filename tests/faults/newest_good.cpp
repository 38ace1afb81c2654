// usage: newest_good RUN_DIRECTORY...
//
// Prints for each of them the update and the seed of the newest good checkpoint, or "none".
#include <iostream>

#include "runtime/checkpoint_store.hpp"

int main(int count, char** arguments) {
  for (int i = 1; i < count; ++i) {
    const auto found = rubato::runtime::newest_good_checkpoint(arguments[i]);
    if (found.newest) {
      const auto& state = found.newest->checkpoint.state;
      std::cout << state.cursor.update << " " << state.seed << "\n";
    } else {
      std::cout << "none\n";
    }
  }
}
