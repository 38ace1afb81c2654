// See tensorboard_file.hpp. All values of an update make one record.
#include "runtime/tensorboard_file.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <initializer_list>
#include <system_error>
#include <vector>

#include "collectives/host_name.hpp"
#include "runtime/errors.hpp"
#include "runtime/record_frame.hpp"
#include "runtime/tensorboard_event.pb.h"

namespace rubato::runtime {

namespace {

namespace fs = std::filesystem;
using tensorboard::Event;

constexpr std::string_view name_begin = "events.out.tfevents.";

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

bool is_event_file(const fs::path& file) {
  return file.filename().string().starts_with(name_begin);
}

// The seconds in a file's name; 0 if there are none.
std::uint64_t seconds_of(const fs::path& file) {
  const std::string name = file.filename().string();
  std::uint64_t seconds = 0;
  std::from_chars(name.data() + name_begin.size(), name.data() + name.size(), seconds);
  return seconds;
}

[[noreturn]] void refuse(const fs::path& directory, const fs::filesystem_error& error) {
  throw OutputError("cannot write in " + directory.string() + ": " + error.code().message());
}

// Readers take files in the order of their names.
fs::path new_file(const fs::path& directory) {
  make_event_directory(directory);
  try {
    auto seconds = static_cast<std::uint64_t>(seconds_since_1970());
    for (const auto& entry : fs::directory_iterator(directory)) {
      if (is_event_file(entry)) seconds = std::max(seconds, seconds_of(entry) + 1);
    }
    return directory /
           (std::string(name_begin) + std::to_string(seconds) + "." + collectives::host_name());
  } catch (const fs::filesystem_error& error) {
    refuse(directory, error);
  }
}

std::string record_of(Event& event) {
  event.set_wall_time(seconds_since_1970());
  return framed(event.SerializeAsString());
}

struct Scalar {
  const char* tag;
  double value;
};

std::string record_of(std::uint64_t update, std::initializer_list<Scalar> scalars) {
  Event event;
  event.set_step(static_cast<std::int64_t>(update));
  for (const Scalar& scalar : scalars) {
    auto& value = *event.mutable_summary()->add_value();
    value.set_tag(scalar.tag);
    value.set_simple_value(static_cast<float>(scalar.value));
  }
  return record_of(event);
}

constexpr std::size_t memory_bytes = std::size_t{64} << 20U;

}  // namespace

TensorboardFile::TensorboardFile(const fs::path& directory, std::uint64_t first_update)
    : records_(new_file(directory), 0, memory_bytes, "records") {
  Event version;
  version.set_file_version("brain.Event:2");
  records_.append_bytes(record_of(version));
  Event start;
  start.set_step(static_cast<std::int64_t>(first_update + 1));
  start.mutable_session_log()->set_status(tensorboard::SessionLog::START);
  records_.append_bytes(record_of(start));
}

void TensorboardFile::update(const StepReport& report) {
  records_.append_bytes(record_of(
      report.update,
      {{"train/loss", report.loss},
       {"train/accuracy", report.accuracy},
       {"train/batch_size", static_cast<double>(report.batch_size)},
       {"train/learning_rate", report.learning_rate},
       {"train/gain", report.gain},
       {"train/noise_scale", report.noise_scale},
       {"train/efficiency", report.efficiency},
       {"train/samples_per_second", static_cast<double>(report.batch_size) / report.seconds}}));
}

void TensorboardFile::evaluation(const EvaluationReport& report) {
  records_.append_bytes(
      record_of(report.update, {{"test/loss", report.loss}, {"test/accuracy", report.accuracy}}));
}

void TensorboardFile::end(const RunEnd& /*end*/) { records_.finish(); }

void make_event_directory(const fs::path& directory) {
  try {
    fs::create_directories(directory);
  } catch (const fs::filesystem_error& error) {
    refuse(directory, error);
  }
}

void remove_event_files(const fs::path& directory) {
  if (!fs::is_directory(directory)) return;
  std::vector<fs::path> doomed;
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (is_event_file(entry)) doomed.push_back(entry);
  }
  for (const fs::path& file : doomed) fs::remove(file);
  std::error_code is_not_empty;
  fs::remove(directory, is_not_empty);
}

}  // namespace rubato::runtime
