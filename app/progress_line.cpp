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

}  // namespace

std::string clock_time(double seconds) {
  const auto whole = static_cast<long>(seconds + 0.5);
  std::ostringstream text;
  if (whole >= 3600) text << whole / 3600 << ':' << std::setfill('0') << std::setw(2);
  text << whole / 60 % 60 << ':' << std::setfill('0') << std::setw(2) << whole % 60;
  return text.str();
}

bool is_watched() {
  if (::isatty(STDERR_FILENO) != 0) return true;
  if (std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr) return false;
  std::error_code error;
  const auto link = "/proc/" + std::to_string(::getppid()) + "/fd/2";
  const std::string target = std::filesystem::read_symlink(link, error).string();
  return target.rfind("/dev/pts/", 0) == 0 || target.rfind("/dev/tty", 0) == 0;
}

bool TerminalLine::is_due() const {
  return std::chrono::steady_clock::now() - last_shown_ >= interval;
}

void TerminalLine::show(const std::string& text) {
  last_shown_ = std::chrono::steady_clock::now();
  is_shown_ = true;
  std::cerr << erase + text << std::flush;
}

void TerminalLine::clear() {
  if (is_shown_) std::cerr << erase << std::flush;
  is_shown_ = false;
}

void ProgressLine::begin(const runtime::RunFacts& facts) {
  total_updates_ = facts.total_updates;
  total_samples_ = facts.total_samples;
}

void ProgressLine::update(const runtime::StepReport& report) {
  rate_.add(report);
  if (line_.is_due()) line_.show(text(report));
}

void ProgressLine::evaluation(const runtime::EvaluationReport& /*report*/) { clear(); }

void ProgressLine::end(const runtime::RunEnd& /*end*/) { clear(); }

std::string ProgressLine::text(const runtime::StepReport& report) const {
  std::ostringstream line;
  line << "update " << report.update;
  if (total_updates_) line << '/' << *total_updates_;
  line << std::fixed << std::setprecision(2) << "  epoch " << report.epochs_done
       << std::setprecision(4) << "  loss " << report.loss << "  batch " << report.batch_size
       << std::defaultfloat << "  lr " << report.learning_rate << std::fixed << std::setprecision(2)
       << "  gain " << report.gain;
  const auto rate = rate_.overall();
  if (!rate) return line.str();
  line << std::setprecision(0) << "  " << *rate << " samples/s";
  if (total_samples_) {
    const auto samples_left = static_cast<double>(*total_samples_ - report.samples);
    line << "  " << clock_time(samples_left / *rate) << " left";
  }
  return line.str();
}

}  // namespace rubato::app
