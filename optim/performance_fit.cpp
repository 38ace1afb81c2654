// The unknowns are the logarithms of the seven parameters, so none can become negative and small
// ones are found as well as large ones. Squares and not their root, which the reference takes:
// that has no derivative where a single point is met exactly. Errors beyond 20 % count linearly.
//
// A substep's time tells what an update is made of, but an update's is what is asked for: where no
// parameters meet both, because a substep takes longer in company or an update something that the
// model does not know, the update's is to be right.
//
// Two weak terms draw what the data leave open: to no overlap, and to time that does not grow with
// the ranks. The reference weighs them 1e-3 and 1e-2, beside which errors of a few per cent are
// nothing; here even errors of a tenth of a per cent outweigh them.
#include "optim/performance_fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "optim/bounded_least_squares.hpp"

namespace rubato::optim {
namespace {

enum Parameter : std::size_t {
  substep_base,
  substep_per_sample,
  between_hosts_base,
  between_hosts_per_rank,
  within_host_base,
  within_host_per_rank,
  overlap,
  parameter_count
};
static_assert(parameter_count == unknown_count);

constexpr double longest_seconds = 1e9;
constexpr double widest_overlap = 10;
constexpr double large_error = 0.2;
constexpr double substep_weight = 0.3;  // of its time, beside the update's
constexpr double prior_weight = 1e-6;

PerformanceParameters from_logarithms(const Unknowns& x) {
  return {std::exp(x[0]), std::exp(x[1]), std::exp(x[2]), std::exp(x[3]),
          std::exp(x[4]), std::exp(x[5]), std::exp(x[6])};
}

struct Point {
  UpdateWork work;
  double log_substep = 0;
  double log_update = 0;
  bool has_substep = false;
  double weight = 0;
};

bool is_time(double seconds) { return seconds >= 1e-9 && seconds <= longest_seconds; }
bool is_count(double number) { return number > 0 && number <= 1e12; }

bool is_usable(const Measurement& measured) {
  const UpdateWork& work = measured.work;
  return is_time(measured.update_seconds) && is_count(work.minibatch) && is_count(work.substeps) &&
         work.hosts > 0 && work.ranks >= work.hosts && measured.observations > 0 &&
         measured.relevance > 0 && measured.relevance <= 1;
}

// A mean of more observations is worth more, but never free of what the model does not know.
std::vector<Point> points_of(std::span<const Measurement> profile) {
  std::vector<Point> points;
  double total = 0;
  for (const Measurement& measured : profile) {
    if (!is_usable(measured)) continue;
    const auto observations = static_cast<double>(measured.observations);
    Point point{measured.work, 0, std::log(measured.update_seconds),
                is_time(measured.substep_seconds),
                measured.relevance * observations / (observations + 3)};
    if (point.has_substep) point.log_substep = std::log(measured.substep_seconds);
    total += point.weight;
    points.push_back(point);
  }
  for (Point& point : points) point.weight /= total;
  return points;
}

// Of the logarithms of the two times, by the logarithms of the parameters.
struct Slopes {
  Unknowns substep{}, update{};
};

Slopes slopes_of(const PerformanceParameters& p, const UpdateWork& work, const UpdateTime& time) {
  const double last_substep = std::min(work.substeps, 1.0);
  const double own = last_substep * time.substep_seconds, other = time.exchange_seconds;
  const double log_own = std::log(own / time.last_seconds);
  const double log_other = std::log(other / time.last_seconds);
  const double own_part = std::exp(p.overlap * log_own);
  const double other_part = std::exp(p.overlap * log_other);

  const double last_share = time.last_seconds / time.update_seconds;
  const double substep_share = own_part * last_share + (work.substeps - last_substep) *
                                                           time.substep_seconds /
                                                           time.update_seconds;
  const double exchange_share = other_part * last_share;

  Slopes slopes;
  slopes.substep[substep_base] = p.substep_base / time.substep_seconds;
  slopes.substep[substep_per_sample] = p.substep_per_sample * work.minibatch / time.substep_seconds;
  slopes.update[substep_base] = substep_share * slopes.substep[substep_base];
  slopes.update[substep_per_sample] = substep_share * slopes.substep[substep_per_sample];
  if (work.ranks <= 1) return slopes;
  const bool is_within = work.hosts <= 1;
  const double base = is_within ? p.within_host_base : p.between_hosts_base;
  const double base_share = base / other;
  slopes.update[is_within ? within_host_base : between_hosts_base] = exchange_share * base_share;
  slopes.update[is_within ? within_host_per_rank : between_hosts_per_rank] =
      exchange_share * (1 - base_share);
  slopes.update[overlap] = last_share * (own_part * log_own + other_part * log_other);
  return slopes;
}

// Weakly: that a further rank costs little beside the first two.
void add_prior(SquaredErrors& squares, double base, double per_rank, std::size_t index) {
  const double share = per_rank / (base + per_rank);
  Unknowns slope{};
  slope[index] = -share * (1 - share);
  slope[index + 1] = share * (1 - share);
  squares.add(prior_weight, share, slope);
}

SquaredErrors squares_at(const Unknowns& x, std::span<const Point> points) {
  const PerformanceParameters p = from_logarithms(x);
  SquaredErrors squares;
  for (const Point& point : points) {
    const UpdateTime time = predict(p, point.work);
    const Slopes slopes = slopes_of(p, point.work, time);
    squares.add_robustly(point.weight, std::log(time.update_seconds) - point.log_update,
                         slopes.update, large_error);
    if (!point.has_substep) continue;
    squares.add_robustly(substep_weight * point.weight,
                         std::log(time.substep_seconds) - point.log_substep, slopes.substep,
                         large_error);
  }
  Unknowns overlap_slope{};
  overlap_slope[overlap] = 1;
  squares.add(prior_weight, x[overlap], overlap_slope);
  add_prior(squares, p.between_hosts_base, p.between_hosts_per_rank, between_hosts_base);
  add_prior(squares, p.within_host_base, p.within_host_per_rank, within_host_base);
  return squares;
}

// What the profile has seen.
struct Seen {
  bool several_sizes = false;                              // minibatches
  bool within_host = false, within_host_more = false;      // several ranks; more than two
  bool between_hosts = false, between_hosts_more = false;  // likewise
};

Seen seen_in(std::span<const Point> points) {
  Seen seen;
  for (const Point& point : points) {
    const UpdateWork& work = point.work;
    if (work.minibatch != points[0].work.minibatch) seen.several_sizes = true;
    if (work.ranks < 2) continue;
    (work.hosts > 1 ? seen.between_hosts : seen.within_host) = true;
    if (work.ranks < 3) continue;
    (work.hosts > 1 ? seen.between_hosts_more : seen.within_host_more) = true;
  }
  return seen;
}

// Halves of a typical substep, and an exchange of as long as updates exceed their substeps.
Unknowns start_at(std::span<const Point> points) {
  double log_substep = 0, log_minibatch = 0, log_excess = 0;
  for (const Point& point : points) {
    const double substep =
        point.has_substep ? point.log_substep : point.log_update - std::log(point.work.substeps);
    const double computing = std::exp(substep + std::log(point.work.substeps) - point.log_update);
    log_substep += point.weight * substep;
    log_minibatch += point.weight * std::log(point.work.minibatch);
    log_excess += point.weight * (point.log_update + std::log(std::max(1 - computing, 0.1)));
  }
  const double half = std::log(0.5), tenth = std::log(0.1);
  return {log_substep + half, log_substep - log_minibatch + half,
          log_excess,         log_excess + tenth,
          log_excess,         log_excess + tenth,
          std::log(1.5)};
}

Ranges ranges_for(const Seen& seen, const Unknowns& start,
                  std::optional<double> seconds_per_sample) {
  Ranges ranges;
  ranges.lowest.fill(std::log(smallest_seconds));
  ranges.highest.fill(std::log(longest_seconds));
  ranges.lowest[overlap] = 0;
  ranges.highest[overlap] = std::log(widest_overlap);
  const auto pin = [&](std::size_t index, double value) {
    ranges.lowest[index] = ranges.highest[index] = value;
  };
  const double none = std::log(smallest_seconds), most = std::log(longest_seconds);
  if (!seen.several_sizes && seconds_per_sample) {
    const double whole_substep = start[substep_per_sample] + std::log(2.0);  // the two halves
    const double told = std::log(std::max(*seconds_per_sample, smallest_seconds));
    pin(substep_per_sample, std::clamp(std::min(told, whole_substep), none, most));
  } else if (!seen.several_sizes) {
    pin(substep_base, std::clamp(start[substep_base], none, most));
  }
  if (!seen.between_hosts) pin(between_hosts_base, none);
  if (!seen.between_hosts_more) pin(between_hosts_per_rank, none);
  if (!seen.within_host) pin(within_host_base, none);
  if (!seen.within_host_more) pin(within_host_per_rank, none);
  if (!seen.between_hosts && !seen.within_host) pin(overlap, 0);
  return ranges;
}

// Between hosts takes longer than within one, if nobody knows better.
void extend_to_hosts(PerformanceParameters& p, const Seen& seen) {
  constexpr double longer = 1.1;
  if (!seen.between_hosts) {
    p.between_hosts_base = std::max(p.between_hosts_base, longer * p.within_host_base);
  }
  if (!seen.between_hosts_more) {
    p.between_hosts_per_rank = std::max(p.between_hosts_per_rank, longer * p.within_host_per_rank);
  }
}

}  // namespace

std::optional<PerformanceParameters> fit(std::span<const Measurement> profile,
                                         std::optional<double> seconds_per_sample) {
  const std::vector<Point> points = points_of(profile);
  if (points.empty()) return std::nullopt;
  const Seen seen = seen_in(points);
  Unknowns start = start_at(points);
  const Ranges ranges = ranges_for(seen, start, seconds_per_sample);
  const auto squares = [&](const Unknowns& x) { return squares_at(x, points); };
  Minimum best = minimum(squares, ranges, start);
  // Much overlap has a valley of its own.
  constexpr double good = 1e-4;  // errors of 1 %
  if (best.value > good && ranges.highest[overlap] > 0) {
    start[overlap] = std::log(5.0);
    const Minimum other = minimum(squares, ranges, start);
    if (other.value < best.value) best = other;
  }
  PerformanceParameters parameters = from_logarithms(best.unknowns);
  parameters.overlap = std::clamp(parameters.overlap, 1.0, widest_overlap);
  extend_to_hosts(parameters, seen);
  return parameters;
}

}  // namespace rubato::optim
