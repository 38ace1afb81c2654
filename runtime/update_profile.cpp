// See update_profile.hpp. Means are of the last thousand updates or so: a machine may change.
#include "runtime/update_profile.hpp"

#include <algorithm>
#include <limits>
#include <sstream>

namespace rubato::runtime {

namespace {

constexpr std::size_t most_observed = 512;
constexpr std::size_t most_kinds = 200;
constexpr std::uint64_t most_updates_remembered = 1000;

double mean_of_middle_half(std::vector<double> seconds) {
  std::ranges::sort(seconds);
  const std::size_t cut = seconds.size() / 4;
  double sum = 0;
  for (std::size_t i = cut; i < seconds.size() - cut; ++i) sum += seconds[i];
  return sum / static_cast<double>(seconds.size() - 2 * cut);
}

}  // namespace

UpdateProfile::UpdateProfile() {
  substeps_.reserve(most_observed);
  updates_.reserve(most_observed);
}

void UpdateProfile::observe(const UpdateKind& kind, double substep_seconds, double update_seconds) {
  kind_ = kind;
  const std::size_t place = observed_++ % most_observed;
  if (updates_.size() < most_observed) {
    substeps_.push_back(substep_seconds);
    updates_.push_back(update_seconds);
  } else {
    substeps_[place] = substep_seconds;
    updates_[place] = update_seconds;
  }
}

void UpdateProfile::settle(double longest_share) {
  if (observed_ == 0) return;
  take({kind_, longest_share, mean_of_middle_half(substeps_), mean_of_middle_half(updates_),
        updates_.size()});
  substeps_.clear();
  updates_.clear();
  observed_ = 0;
}

void UpdateProfile::take(const Times& times) {
  Times merged = times;
  if (const auto known = std::ranges::find(kinds_, times.kind, &Times::kind);
      known != kinds_.end()) {
    const auto before = static_cast<double>(std::min(known->updates, most_updates_remembered));
    const double weight = before / (before + static_cast<double>(times.updates));
    const auto mix = [weight](double old, double now) { return weight * old + (1 - weight) * now; };
    merged.longest_share = mix(known->longest_share, times.longest_share);
    merged.substep_seconds = mix(known->substep_seconds, times.substep_seconds);
    merged.update_seconds = mix(known->update_seconds, times.update_seconds);
    merged.updates += known->updates;
    kinds_.erase(known);
  }
  if (kinds_.size() == most_kinds) kinds_.erase(kinds_.begin());
  kinds_.push_back(merged);
}

std::vector<optim::Measurement> UpdateProfile::measurements() const {
  std::vector<optim::Measurement> all;
  for (const Times& times : kinds_) {
    all.push_back({.work = {times.kind.hosts, times.kind.ranks,
                            static_cast<double>(times.kind.minibatch), times.longest_share},
                   .substep_seconds = times.substep_seconds,
                   .update_seconds = times.update_seconds,
                   .observations = times.updates});
  }
  return all;
}

std::string UpdateProfile::text() const {
  std::ostringstream text;
  text.precision(std::numeric_limits<double>::max_digits10);
  for (const Times& times : kinds_) {
    text << times.kind.hosts << ' ' << times.kind.ranks << ' ' << times.kind.minibatch << ' '
         << times.kind.minibatches << ' ' << times.longest_share << ' ' << times.substep_seconds
         << ' ' << times.update_seconds << ' ' << times.updates << '\n';
  }
  return text.str();
}

void UpdateProfile::restore(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    Times times;
    words >> times.kind.hosts >> times.kind.ranks >> times.kind.minibatch >>
        times.kind.minibatches >> times.longest_share >> times.substep_seconds >>
        times.update_seconds >> times.updates;
    if (words && times.updates > 0) take(times);
  }
}

}  // namespace rubato::runtime
