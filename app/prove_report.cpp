// See prove_report.hpp.
#include "app/prove_report.hpp"

#include <iomanip>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "app/number_text.hpp"
#include "app/option_value.hpp"

namespace rubato::app {
namespace {

constexpr int way_width = 34;

std::string description(const KillRecord& record) {
  const auto way = name_of(record.kill.way);
  if (record.has_stopped_first) return "stopped before " + way;
  const auto moment = name_of(record.kill.moment);
  return moment.empty() ? way : way + " " + moment;
}

template <class Key>
using Counts = std::map<Key, std::uint64_t>;

std::uint64_t lost_updates(const Proof& proof) {
  std::uint64_t lost = 0;
  for (const auto& record : proof.kills) lost += record.lost_updates();
  return lost;
}

Counts<std::string> counts_of_ways(const Proof& proof) {
  Counts<std::string> counts;
  for (const auto& record : proof.kills) {
    ++counts[record.has_stopped_first ? name_of(KillWay::planned) : name_of(record.kill.way)];
  }
  return counts;
}

Counts<std::string> counts_of_moments(const Proof& proof) {
  Counts<std::string> counts;
  for (const auto& record : proof.kills) {
    const auto moment = name_of(record.kill.moment);
    if (!record.has_stopped_first) ++counts[moment.empty() ? "after an update" : moment];
  }
  return counts;
}

Counts<std::uint64_t> counts_of_ranks(const Proof& proof) {
  Counts<std::uint64_t> counts;
  for (const auto& record : proof.kills) ++counts[record.kill.ranks];
  ++counts[proof.last_ranks];
  return counts;
}

template <class Key>
std::string as_text(const Counts<Key>& counts) {
  std::ostringstream text;
  for (const auto& [key, count] : counts) {
    text << (text.tellp() > 0 ? ", " : "") << count << " x " << key;
  }
  return text.str();
}

void print_evidence(std::ostream& out, const char* name, const RunEvidence& evidence) {
  out << "  " << name << "  state " << evidence.digest << "\n            samples " << std::hex
      << evidence.audit.run_digest << std::dec << ", update " << evidence.updates << '\n';
}

nlohmann::json as_json(const RunEvidence& evidence) {
  std::ostringstream audit;
  audit << std::hex << evidence.audit.run_digest;
  return {{"update", evidence.updates},
          {"state_digest", evidence.digest},
          {"sample_audit", audit.str()}};
}

nlohmann::json as_json(const KillRecord& record) {
  nlohmann::json json{{"way", name_of(record.kill.way)},
                      {"moment", name_of(record.kill.moment)},
                      {"ranks", record.kill.ranks},
                      {"from_update", record.expected_from},
                      {"at_update", record.at_update},
                      {"kept_update", nullptr},
                      {"stopped_before", record.has_stopped_first},
                      {"exit_code", record.exit_code},
                      {"seconds", record.seconds}};
  if (record.kept_update) json["kept_update"] = *record.kept_update;
  return json;
}

}  // namespace

void print_straight_run(std::ostream& out, const Proof& proof) {
  const auto every = proof.checkpoint_every;
  out << "Straight run: " << counted(proof.updates, "update") << " on "
      << counted(proof.straight_ranks, "rank") << ", " << fixed(proof.straight_seconds, 1)
      << " s.\nKilled run: a checkpoint every "
      << (every == 1 ? "update" : counted(every, "update")) << "; --seed " << proof.seed
      << " draws the same kills.\n";
  if (proof.is_fast) {
    out << "It is too fast for signals to hit: starts also stop by themselves.\n";
  }
  out << "\nkill  " << std::left << std::setw(way_width) << "what" << std::right
      << "ranks    from      at    lost  code  seconds\n"
      << std::flush;
}

void print_kill(std::ostream& out, std::uint64_t number, const KillRecord& record) {
  out << std::setw(4) << number << "  " << std::left << std::setw(way_width) << description(record)
      << std::right << std::setw(5) << record.kill.ranks << std::setw(8) << record.expected_from
      << std::setw(8) << record.at_update << std::setw(8) << record.lost_updates() << std::setw(6)
      << record.exit_code << std::setw(9) << fixed(record.seconds, 1) << '\n'
      << std::flush;
}

void print_verdict(std::ostream& out, const Proof& proof) {
  out << "\nKills: " << as_text(counts_of_ways(proof))
      << ".\nMoments: " << as_text(counts_of_moments(proof))
      << ".\nStarts by ranks: " << as_text(counts_of_ranks(proof))
      << ".\nUpdates run twice: " << lost_updates(proof) << ".\n\n";
  if (!proof.broken_promise.empty()) {
    out << "NOT EQUAL: " << proof.broken_promise << '\n';
    return;
  }
  const auto& found = proof.comparison;
  print_evidence(out, "straight", found.straight);
  print_evidence(out, "killed  ", found.killed);
  if (!found.first_difference.empty()) {
    out << "NOT EQUAL: first difference: " << found.first_difference << '\n';
    return;
  }
  out << "Equal: the state, the samples used, and the lines of "
      << counted(found.update_lines, "update") << ", " << counted(found.epoch_lines, "epoch")
      << " and " << counted(found.evaluation_lines, "evaluation") << ", each update once.\n";
}

void print_as_json(std::ostream& out, const Proof& proof) {
  nlohmann::json kills = nlohmann::json::array();
  for (const auto& record : proof.kills) kills.push_back(as_json(record));
  const nlohmann::json document{
      {"equal", proof.is_equal()},
      {"first_difference",
       proof.broken_promise.empty() ? proof.comparison.first_difference : proof.broken_promise},
      {"seed", proof.seed},
      {"updates", proof.updates},
      {"straight_ranks", proof.straight_ranks},
      {"straight_seconds", proof.straight_seconds},
      {"checkpoint_every", proof.checkpoint_every},
      {"updates_run_twice", lost_updates(proof)},
      {"update_lines_compared", proof.comparison.update_lines},
      {"straight", as_json(proof.comparison.straight)},
      {"killed", as_json(proof.comparison.killed)},
      {"last_ranks", proof.last_ranks},
      {"kills", kills}};
  out << document.dump(2) << '\n';
}

}  // namespace rubato::app
