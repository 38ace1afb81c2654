// The trace that a run follows is read back from its own file's text: what repeats it cannot be
// another one.
#include "runtime/batch_decisions.hpp"

#include <cmath>
#include <sstream>

#include "data/errors.hpp"

namespace rubato::runtime {

std::string_view BatchDecisions::header() {
  return "update,batchsize,minibatch,epoch,substeps,hosts,ranks,predicted_goodput,current_goodput,"
         "noise_scale,reason";
}

std::string line_of(const BatchDecision& decision) {
  std::ostringstream line;
  line.precision(6);
  const auto& [minibatch, substeps, batch] = decision.configuration;
  line << decision.update << ',' << batch << ',' << minibatch << ',' << decision.epoch << ','
       << substeps << ',' << decision.hosts << ',' << decision.ranks;
  for (const double number :
       {decision.predicted_goodput, decision.current_goodput, decision.noise_scale}) {
    line << ',';
    if (number > 0 && std::isfinite(number)) line << number;
  }
  line << ',' << decision.reason;
  return line.str();
}

void BatchDecisions::add(const std::string& line) {
  if (text_.empty()) text_ = std::string(header()) + "\n";
  text_ += line + "\n";
}

void BatchDecisions::restore(const std::string& text, const std::string& name) {
  if (!text.starts_with(std::string(header()) + "\n")) {
    throw data::ContentError(name + ": found other columns, expected " + std::string(header()));
  }
  if (!text.ends_with('\n')) {
    throw data::ContentError(name + ": found a last line without its end, expected whole lines");
  }
  data::BatchTrace::from_csv_text(text, name);
  text_ = text;
}

void BatchDecisions::forget_from(std::uint64_t update) {
  const data::BatchTrace trace = this->trace();
  for (std::uint64_t row = trace.rows(); row > 0 && trace.row(row - 1).update >= update; --row) {
    text_.erase(text_.rfind('\n', text_.size() - 2) + 1);
  }
}

data::BatchTrace BatchDecisions::trace() const {
  return data::BatchTrace::from_csv_text(text_, "decisions.csv");
}

}  // namespace rubato::runtime
