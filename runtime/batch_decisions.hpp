// What an adaptive run has decided: DIR/decisions.csv, a sparse batch trace (data/batch_trace.hpp)
// with further columns for people, which repeats the run bit for bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "data/batch_trace.hpp"
#include "optim/batch_candidates.hpp"

namespace rubato::runtime {

struct BatchDecision {
  std::uint64_t update = 0;  // the first one that it holds for, counted from 0
  std::uint64_t epoch = 0;   // in which that one begins
  optim::Configuration configuration;
  std::size_t hosts = 1;
  std::size_t ranks = 1;
  double predicted_goodput = 0;  // samples of the initial batch's worth, per second; 0: not known
  double current_goodput = 0;    // predicted of the batch before
  double noise_scale = 0;        // samples
  std::string reason;            // without a comma
};

// One line of the file, without its end.
std::string line_of(const BatchDecision& decision);

class BatchDecisions {
 public:
  static std::string_view header();

  // Appends a line of line_of().
  void add(const std::string& line);
  // The whole file. Throws data::ContentError, naming `name`, if it has other columns, or is no
  // trace.
  const std::string& text() const noexcept { return text_; }
  void restore(const std::string& text, const std::string& name);
  // Removes the lines of decisions that hold from this update or a later one. Precondition: not 0.
  void forget_from(std::uint64_t update);

  data::BatchTrace trace() const;

 private:
  std::string text_;
};

}  // namespace rubato::runtime
