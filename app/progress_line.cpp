// Carriage return and "erase to the end of the line" (ECMA-48); the line is taken away again before
// anything else is printed.
#include "app/progress_line.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <system_error>

namespace rubato::app {
namespace {

constexpr std::chrono::milliseconds interval{200};
constexpr const char* erase = "\r\x1b[K";

std::string clock_time(double seconds) {
  const auto whole = static_cast<long>(seconds + 0.5);
  std::ostringstream text;
  if (whole >= 3600) text << whole / 3600 << ':' << std::setfill('0') << std::setw(2);
  text << whole / 60 % 60 << ':' << std::setfill('0') << std::setw(2) << whole % 60;
  return text.str();
}

}  // namespace

bool is_watched() {
  if (::isatty(STDERR_FILENO) != 0) return true;
  if (std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr) return false;
  std::error_code error;
  const auto link = "/proc/" + std::to_string(::getppid()) + "/fd/2";
  const std::string target = std::filesystem::read_symlink(link, error).string();
  return target.rfind("/dev/pts/", 0) == 0 || target.rfind("/dev/tty", 0) == 0;
}

void ProgressLine::begin(const runtime::RunFacts& facts) {
  total_updates_ = facts.total_updates;
  total_samples_ = facts.total_samples;
}

void ProgressLine::update(const runtime::StepReport& report) {
  seconds_ += report.seconds;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_shown_ < interval) return;
  last_shown_ = now;
  const double rate = static_cast<double>(report.samples) / seconds_;
  std::ostringstream line;
  line << erase << "update " << report.update;
  if (total_updates_) line << '/' << *total_updates_;
  line << "  epoch " << report.epoch << std::setprecision(4) << "  loss " << report.loss
       << "  batch " << report.batch_size << "  lr " << report.learning_rate << std::fixed
       << std::setprecision(2) << "  gain " << report.gain << std::setprecision(0) << "  " << rate
       << " samples/s" << time_left(report.samples, rate);
  std::cerr << line.str() << std::flush;
}

void ProgressLine::evaluation(const runtime::EvaluationReport& /*report*/) {
  std::cerr << erase << std::flush;
}

void ProgressLine::end(const runtime::RunEnd& /*end*/) { std::cerr << erase << std::flush; }

std::string ProgressLine::time_left(std::uint64_t samples, double samples_per_second) const {
  if (!total_samples_ || samples_per_second <= 0) return "";
  const auto left = static_cast<double>(*total_samples_ - samples);
  return "  " + clock_time(left / samples_per_second) + " left";
}

}  // namespace rubato::app
