// rubato doctor: what is under us, whether it works, and what to repair.
#include <iostream>
#include <string>

#include "app/commands.hpp"
#include "app/doctor_report.hpp"
#include "app/failure.hpp"
#include "app/options.hpp"
#include "collectives/agreement.hpp"
#include "collectives/mpi_library.hpp"
#include "collectives/topology.hpp"
#include "nn/backend.hpp"

namespace rubato::app {
namespace {

OptionTable doctor_table() {
  return {{.command = "doctor",
           .summary = "examine this machine and its MPI, and say what to repair.",
           .example = "mpirun -q -n 4 rubato doctor",
           .notes = "Works with and without mpirun; start it as the run that it is about. Exit"
                    " code 71 if something is broken."},
          {{.name = "format",
            .kind = OptionKind::choice,
            .default_value = "text",
            .group = "Output",
            .description = "for people, or one JSON document",
            .choices = {"text", "json"}}}};
}

int examine(const collectives::Communicator& world, const OptionTable& table, int argc,
            char** argv) {
  Options options;
  collectives::agree(
      world,
      [&] {
        options = table.parse(argc, argv);
        nn::select_kernels(nn::backend("auto"), "auto");
      },
      explain);
  const collectives::Topology topology(world);
  Diagnosis diagnosis;
  diagnosis.thread_level = collectives::mpi_library().thread_level;
  diagnosis.ranks = gather_facts(world, facts_of_this_rank(topology));
  diagnosis.placement = judge_placement(diagnosis.ranks);
  diagnosis.checks = self_test(topology);
  if (world.rank() == 0) {
    const bool is_json = options.text("format") == "json";
    (is_json ? print_json : print_text)(std::cout, diagnosis);
  }
  return diagnosis.is_broken() ? exit_system : exit_done;
}

}  // namespace

int doctor(int argc, char** argv) {
  const OptionTable table = doctor_table();
  if (asks_for_help(argc, argv)) {
    std::cout << table.help();
    return exit_done;
  }
  return collectives::run_session(
      argc, argv,
      [&](const collectives::Communicator& world) { return examine(world, table, argc, argv); },
      explain);
}

}  // namespace rubato::app
