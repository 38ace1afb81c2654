// A program that ends in the way its argument says; session_exit.cmake looks at how.
#include <stdexcept>
#include <string>

#include "collectives/agreement.hpp"
#include "collectives/node_memory.hpp"
#include "collectives/session.hpp"

namespace {

using namespace rubato::collectives;

Failure explain(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& known) {
    return {74, known.what()};
  }
}

// The last rank fails alone, with node memory in hand, while the others wait for it.
int fail_alone(const Communicator& world) {
  const Topology topology(world);
  const NodeMemory memory(topology, 4096);
  if (world.rank() + 1 == world.size()) {
    throw std::runtime_error("the disk is full");
  }
  world.barrier();
  return 0;
}

int fail_together(const Communicator& world) {
  const Topology topology(world);
  const NodeMemory memory(topology, 4096);
  agree(
      world,
      [&] {
        if (world.rank() + 1 == world.size()) {
          throw std::runtime_error("the trace is empty");
        }
      },
      explain);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "";
  return run_session(
      argc, argv,
      [&](const Communicator& world) {
        if (way == "fail-alone") {
          return fail_alone(world);
        }
        if (way == "fail-together") {
          return fail_together(world);
        }
        return std::stoi(way);
      },
      explain);
}
