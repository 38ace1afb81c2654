// Blame, then words.
#include "runtime/hang_diagnosis.hpp"

#include <algorithm>
#include <cmath>

namespace rubato::runtime {

namespace {

// Why a process cannot move, as its state says; empty: it could.
std::string handicap(char process_state) {
  switch (process_state) {
    case 'T':
    case 't':
      return "is stopped (SIGSTOP or a debugger)";
    case 'Z':
    case 'X':
      return "is dead";
    case 'D':
      return "waits for a disk or a file server";
    default:
      return {};
  }
}

// "rank 3" or "ranks 0, 1 and 2".
std::string names_of(const std::vector<RankSight>& ranks) {
  std::string names = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (i > 0) names += i + 1 == ranks.size() ? " and " : ", ";
    names += std::to_string(ranks[i].rank);
  }
  return names;
}

std::string names_of(const std::vector<std::string>& hosts) {
  constexpr std::size_t most = 8;
  std::string names;
  for (std::size_t i = 0; i < std::min(hosts.size(), most); ++i) {
    names += (i > 0 ? ", " : "") + hosts[i];
  }
  if (hosts.size() > most) names += " and " + std::to_string(hosts.size() - most) + " more";
  return names;
}

std::string in_update(const RankSight& sight) {
  return " (update " + std::to_string(sight.update) + ")";
}

std::string while_doing(const RankSight& sight) {
  return " while " + name_of(sight.phase) + in_update(sight);
}

std::string duration(double seconds) { return std::to_string(std::lround(seconds)) + " s"; }

std::string have(const std::vector<RankSight>& ranks) { return ranks.size() == 1 ? "has" : "have"; }

Suspicion everyone_waits(const NodeSight& node) {
  const double seconds = std::ranges::min(node.ranks, {}, &RankSight::idle_seconds).idle_seconds;
  const bool is_elsewhere = !node.other_hosts.empty();
  const std::string cause = is_elsewhere ? ": a rank on another host is stuck or cut off (" +
                                               names_of(node.other_hosts) + ")"
                                         : std::string(", each for the others");
  const RankSight& sight = node.ranks.front();
  return {seconds, is_elsewhere,
          names_of(node.ranks) + " on " + node.host + " " + have(node.ranks) + " waited for " +
              duration(seconds) +
              (sight.phase == Phase::waiting ? in_update(sight) : while_doing(sight)) + cause};
}

Suspicion blame(const NodeSight& node, const std::vector<RankSight>& ranks) {
  const double seconds = std::ranges::max(ranks, {}, &RankSight::idle_seconds).idle_seconds;
  constexpr double as_long = 1;  // differences within which ranks count as equally late
  std::vector<RankSight> late;
  std::ranges::copy_if(ranks, std::back_inserter(late), [&](const RankSight& sight) {
    return sight.idle_seconds >= seconds - as_long;
  });
  std::string sentence = names_of(late) + " on " + node.host + " " + have(late) +
                         " not moved for " + duration(seconds) + while_doing(late.front());
  for (const RankSight& sight : late) {
    const std::string why = handicap(sight.process_state);
    if (!why.empty()) sentence += "; process " + std::to_string(sight.pid) + " " + why;
  }
  return {seconds, false, sentence};
}

}  // namespace

bool cannot_move(const RankSight& sight) {
  const char state = sight.process_state;
  return state == 'T' || state == 't' || state == 'Z' || state == 'X';
}

Suspicion hang_suspicion(const NodeSight& node) {
  const auto disabled = std::ranges::find_if(node.ranks, cannot_move);
  if (disabled != node.ranks.end()) return blame(node, {*disabled});
  const std::uint64_t update = std::ranges::min(node.ranks, {}, &RankSight::update).update;
  std::vector<RankSight> least;  // of those in the earliest update, who wait for nobody
  for (const RankSight& sight : node.ranks) {
    if (sight.update != update || waits_for_others(sight.phase)) continue;
    if (!least.empty() && sight.phase > least.front().phase) continue;
    if (!least.empty() && sight.phase < least.front().phase) least.clear();
    least.push_back(sight);
  }
  if (!least.empty()) return blame(node, least);
  std::ranges::copy_if(node.ranks, std::back_inserter(least),
                       [&](const RankSight& sight) { return sight.update == update; });
  return least.size() == node.ranks.size() ? everyone_waits(node) : blame(node, least);
}

}  // namespace rubato::runtime
