// What a checkpoint costs: building its image, hashing it, committing it (beside `dd` of the same
// number of bytes with a flush), and loading it again; and how long training stands still for it.
//
//   usage: checkpoint_bench [parameters = 25000000] [rounds = 5] [directory = .]
//
// The state is that of SGD with momentum: twice the parameters, in tensors of a million values.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "runtime/checkpoint_store.hpp"
#include "runtime/checkpoint_writer.hpp"
#include "runtime/sha256.hpp"

namespace {

using namespace rubato::runtime;

// With nothing left to write or to free from before: the journal of a file system charges the next
// flush for the files that were removed.
template <class Work>
double seconds_of(const Work& work) {
  ::sync();
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::vector<NamedTensor> tensors(const std::string& prefix, std::size_t values) {
  constexpr std::size_t most = 1'000'000;
  std::vector<NamedTensor> made;
  for (std::size_t first = 0; first < values; first += most) {
    const std::size_t count = std::min(most, values - first);
    std::vector<float> numbers(count);
    for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(first + i) * 1e-7F;
    made.push_back({prefix + "layer" + std::to_string(made.size()), {count}, std::move(numbers)});
  }
  return made;
}

Checkpoint example(std::size_t parameters) {
  Checkpoint checkpoint;
  checkpoint.state.rule = "adascale";
  checkpoint.state.model = tensors("", parameters);
  checkpoint.state.optimizer = tensors("momentum/", parameters);
  return checkpoint;
}

class Row {
 public:
  explicit Row(const char* name) : name_(name) {}
  void add(double seconds) { seconds_.push_back(seconds); }
  double median() {
    std::sort(seconds_.begin(), seconds_.end());
    return seconds_[seconds_.size() / 2];
  }
  void print(std::uint64_t bytes) {
    const double middle = median();
    std::printf("%-34s %8.3f s  (%.3f to %.3f)  %7.0f MB/s\n", name_, middle, seconds_.front(),
                seconds_.back(), static_cast<double>(bytes) / middle * 1e-6);
  }

 private:
  const char* name_;
  std::vector<double> seconds_;
};

struct Rows {
  Row encode{"encode"}, sha256_alone{"sha256 alone"}, dd{"dd conv=fsync"}, commit{"commit"},
      prune{"remove the one before"}, load{"load, verify, decode"},
      copy{"training waits: copy into buffer"}, behind{"behind it: encode and commit"};
};

void measure(Rows& rows, const Checkpoint& checkpoint, const std::filesystem::path& directory,
             std::uint64_t update, CheckpointWriter& writer) {
  std::vector<std::byte> image;
  rows.encode.add(seconds_of([&] { image = encode_checkpoint(checkpoint); }));
  rows.sha256_alone.add(seconds_of([&] { sha256(image); }));
  const std::string file = (directory / "dd").string();
  const std::string dd = "dd if=/dev/zero of='" + file + "' bs=1M conv=fsync status=none" +
                         " iflag=count_bytes count=" + std::to_string(image.size());
  rows.dd.add(seconds_of([&] {
    if (std::system(dd.c_str()) != 0) std::exit(1);
  }));
  std::filesystem::remove(file);
  rows.commit.add(seconds_of([&] { CheckpointStore(directory, 2).commit(update, image); }));
  rows.prune.add(
      seconds_of([&] { std::filesystem::remove(checkpoint_path(directory, update - 1)); }));
  image = {};
  rows.load.add(seconds_of([&] {
    const Found found = newest_good_checkpoint(directory);
    if (!found.newest || found.newest->stored.update != update) std::exit(1);
  }));
  Checkpoint buffer = writer.take_buffer();
  rows.copy.add(seconds_of([&] {
    buffer = checkpoint;
    buffer.state.cursor.update = update;
    writer.submit(std::move(buffer));
  }));
  rows.behind.add(seconds_of([&] { writer.finish(); }));
}

}  // namespace

int main(int count, char** arguments) {
  const std::size_t parameters = count > 1 ? std::stoull(arguments[1]) : 25'000'000;
  const int rounds = count > 2 ? std::stoi(arguments[2]) : 5;
  const std::filesystem::path parent = count > 3 ? arguments[3] : ".";
  const std::filesystem::path directory = parent / "checkpoint_bench.tmp";
  std::filesystem::remove_all(directory);  // of a run that was killed
  std::filesystem::create_directories(directory);
  Checkpoint checkpoint = example(parameters);
  const std::uint64_t bytes = encode_checkpoint(checkpoint).size();
  std::printf("%zu parameters with momentum, %.1f MB; medians of %d rounds in turn\n", parameters,
              static_cast<double>(bytes) * 1e-6, rounds);
  CheckpointStore(directory, 2).commit(0, encode_checkpoint(checkpoint));  // for the first removal
  Rows rows;
  {
    CheckpointWriter writer(CheckpointStore(directory / "beside", /*keep=*/1));
    writer.submit(Checkpoint(checkpoint));  // so that the buffer has its memory
    writer.finish();
    for (int round = 1; round <= rounds; ++round) {
      checkpoint.state.cursor.update = static_cast<std::uint64_t>(round);
      measure(rows, checkpoint, directory, checkpoint.state.cursor.update, writer);
    }
  }
  std::filesystem::remove_all(directory);
  for (Row* row : {&rows.encode, &rows.sha256_alone, &rows.dd, &rows.commit, &rows.prune,
                   &rows.load, &rows.copy, &rows.behind}) {
    row->print(bytes);
  }
  std::printf("rate of the commit, of dd's: %.0f %%\n",
              100 * rows.dd.median() / rows.commit.median());
}
