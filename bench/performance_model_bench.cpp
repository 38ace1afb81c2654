// How well the performance model (optim/performance_model.hpp) foretells the time of an update, and
// what it takes to fit it and to search for the best batch size.
//
//   usage: mpirun -n RANKS performance_model_bench measure FILE [MODEL = mnist] [UPDATES = 10]
//          performance_model_bench judge FILE
//
// The first runs updates of minibatches of 8 to 256 samples, 1 to 8 of them for each rank, and
// appends to FILE how long each kind took; to be called for several numbers of ranks. The second
// fits the model to every other kind and compares what it says of all with what was measured.
// performance_model.py does both.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "collectives/agreement.hpp"
#include "collectives/session.hpp"
#include "optim/goodput.hpp"
#include "runtime/comparable_times.hpp"
#include "runtime/trainer.hpp"
#include "runtime/update_profile.hpp"

namespace {

using namespace rubato;

constexpr std::uint64_t warm_up = 2;  // updates of each kind

// Notes how long the updates of each kind took, but for its first ones.
class Watch final : public runtime::RunLog {
 public:
  Watch(std::size_t ranks, std::uint64_t updates) : ranks_(ranks), updates_(updates) {}
  void update(const runtime::StepReport& report) override {
    const bool is_whole = report.batch_size == report.substeps * report.minibatch;  // in one epoch
    if ((report.update - 1) % updates_ >= warm_up && is_whole && !report.was_repeated) {
      double substep = 0;
      for (const auto& time : report.rank_times) {
        substep += time.whole_seconds / time.whole_minibatches / static_cast<double>(ranks_);
      }
      profile.observe({1, ranks_, report.minibatch, report.substeps}, substep, report.seconds);
    }
    if (report.update % updates_ > 0) return;
    profile.settle(static_cast<double>(profile.observed().minibatches / ranks_));
  }
  runtime::UpdateProfile profile;

 private:
  std::size_t ranks_;
  std::uint64_t updates_;
};

int measure(const collectives::Communicator& world, const std::string& file,
            const std::string& model, std::uint64_t updates) {
  const std::string trace = file + ".trace.csv";
  std::uint64_t update = 0;
  std::string rows = "update,batchsize,minibatch\n";
  for (const std::uint64_t substeps : {1U, 2U, 4U, 8U}) {
    for (const std::uint64_t minibatch : {8U, 16U, 32U, 64U, 128U, 256U}) {
      rows += std::to_string(update) + "," + std::to_string(minibatch * substeps * world.size()) +
              "," + std::to_string(minibatch) + "\n";
      update += updates;
    }
  }
  if (world.rank() == 0) std::ofstream(trace) << rows;
  world.barrier();
  runtime::RunOptions options;
  options.data.spec = "synthetic:samples=10000,shape=1x28x28,classes=10";
  options.model = model;
  options.trace_file = trace;
  options.epoch_end = data::EpochEnd::carry;
  options.updates = update;
  options.schedule.base_rate = 1e-5;
  Watch watch(world.size(), updates);
  runtime::Trainer trainer(world, options, collectives::plain_failure);
  trainer.run({&watch});
  if (world.rank() == 0) std::ofstream(file, std::ios::app) << watch.profile.text();
  world.barrier();
  if (world.rank() == 0) std::filesystem::remove(trace);
  return 0;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[values.size() / 2];
}

template <class Work>
double median_milliseconds(const Work& work) {
  std::vector<double> times;
  for (int round = 0; round < 21; ++round) {
    const auto start = std::chrono::steady_clock::now();
    work();
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
            .count());
  }
  return median(times);
}

int judge(const std::string& file) {
  std::ifstream stream(file);
  runtime::UpdateProfile profile;
  profile.restore({std::istreambuf_iterator<char>(stream), {}});
  const std::vector<optim::Measurement> all = profile.measurements();
  std::vector<optim::Measurement> told;
  for (std::size_t i = 0; i < all.size(); i += 2) told.push_back(all[i]);
  if (told.empty()) {
    std::fprintf(stderr, "performance_model_bench: %s holds no measurement\n", file.c_str());
    return 65;
  }
  std::vector<double> errors;
  std::vector<double> unseen;
  std::map<std::size_t, std::vector<double>> of_ranks;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const optim::UpdateWork& work = all[i].work;
    const auto times = optim::fit(runtime::comparable_times(told, work.hosts, work.ranks));
    const double predicted = optim::predict(*times, work).update_seconds;
    const double error = 100 * std::abs(predicted / all[i].update_seconds - 1);
    errors.push_back(error);
    if (i % 2 == 1) unseen.push_back(error);
    of_ranks[work.ranks].push_back(error);
    std::printf("kind %zu ranks, minibatch %.0f, substeps %.0f: %.3f ms, predicted %.3f\n",
                work.ranks, work.minibatch, work.substeps, 1e3 * all[i].update_seconds,
                1e3 * predicted);
  }
  for (const auto& [ranks, some] : of_ranks) {
    std::printf("error_of_ranks_%zu %.2f\n", ranks, median(some));
  }
  std::printf("kinds %zu\nerror %.2f\nerror_unseen %.2f\n", all.size(), median(errors),
              median(unseen));
  std::printf("fit_ms %.3f\n", median_milliseconds([&] { optim::fit(all); }));
  const optim::BatchLimits limits{
      .initial_batch = 64, .max_batch_size = 4096, .local_bounds = optim::LocalBounds{8, 256}};
  const optim::GoodputModel model{*optim::fit(told), {1, 0.01}, 64, {.ranks = 4}};
  std::printf("search_ms %.3f\n",
              median_milliseconds([&] { optim::best_configuration(model, limits); }));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 2 && words[0] == "judge") return judge(words[1]);
  if (words.size() < 2 || words.size() > 4 || words[0] != "measure") {
    std::fprintf(stderr,
                 "usage: performance_model_bench measure FILE [MODEL] [UPDATES] | judge FILE\n");
    return 64;
  }
  const std::string model = words.size() > 2 ? words[2] : "mnist";
  const std::uint64_t updates = words.size() > 3 ? std::stoull(words[3]) : 10;
  return collectives::run_session(
      argc, argv,
      [&](collectives::Communicator& world) { return measure(world, words[1], model, updates); },
      collectives::plain_failure);
}
