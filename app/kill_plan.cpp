// See kill_plan.hpp. The distributions of <random> differ between libraries; the remainders used
// here do not.
#include "app/kill_plan.hpp"

#include <algorithm>
#include <random>
#include <stdexcept>
#include <utility>

namespace rubato::app {
namespace {

constexpr std::uint64_t slow_stretches = 2;
constexpr double longest_delay = 0.8;  // mpirun needs 0.2 s to 1 s before the first update

using Random = std::mt19937_64;

// Cards dealt in random order, each once before any comes again.
template <class Card>
class Deck {
 public:
  Deck(std::vector<Card> cards, Random& random) : cards_(std::move(cards)), random_(random) {}

  Card deal() {
    if (left_ == 0) left_ = cards_.size();
    std::swap(cards_[random_() % left_], cards_[left_ - 1]);
    return cards_[--left_];
  }

 private:
  std::vector<Card> cards_;
  Random& random_;
  std::size_t left_ = 0;
};

std::vector<KillWay> ways(bool is_fast) {
  std::vector<KillWay> all{KillWay::rank, KillWay::launcher, KillWay::stop, KillWay::terminate};
  if (is_fast) all.push_back(KillWay::planned);
  return all;
}

// A rank that is starting would die of SIGUSR1, and a planned stop is at an update.
KillMoment moment_for(KillWay way, KillMoment dealt) {
  if (way == KillWay::planned) return KillMoment::after_update;
  const bool is_deaf = way == KillWay::stop && dealt == KillMoment::at_start;
  return is_deaf ? KillMoment::after_update : dealt;
}

}  // namespace

std::string name_of(KillWay way) {
  switch (way) {
    case KillWay::rank:
      return "SIGKILL to a rank";
    case KillWay::launcher:
      return "SIGKILL to mpirun";
    case KillWay::stop:
      return "SIGUSR1 to mpirun";
    case KillWay::terminate:
      return "SIGTERM to mpirun";
    case KillWay::planned:
      break;
  }
  return "--stop-after-update";
}

std::string name_of(KillMoment moment) {
  if (moment == KillMoment::while_saving) return "while saving";
  return moment == KillMoment::at_start ? "at the start" : "";
}

std::vector<Kill> draw_kills(const KillDraw& draw) {
  if (draw.kills >= draw.updates) {
    throw std::invalid_argument("--kills " + std::to_string(draw.kills) +
                                ": expected fewer kills than updates, of which the run has " +
                                std::to_string(draw.updates));
  }
  Random random(draw.seed);
  Deck<KillWay> way_deck(ways(draw.is_fast), random);
  Deck<KillMoment> moment_deck(
      {KillMoment::after_update, KillMoment::after_update, KillMoment::after_update,
       KillMoment::while_saving, KillMoment::while_saving, KillMoment::at_start},
      random);
  Deck<std::uint64_t> rank_deck(draw.ranks, random);
  std::vector<Kill> kills;
  for (std::uint64_t i = 0; i < draw.kills; ++i) {
    const auto begin = i * draw.updates / draw.kills;
    const auto end = (i + 1) * draw.updates / draw.kills;
    const auto latest = draw.updates - (draw.kills - i);  // leaves an update to each kill to come
    const auto stop_stretch = draw.is_fast ? i : i + slow_stretches;
    Kill kill{.way = way_deck.deal(), .ranks = rank_deck.deal()};
    kill.moment = moment_for(kill.way, moment_deck.deal());
    kill.update = std::min(begin + 1 + random() % (end - begin), latest);
    kill.stop_update = std::min((stop_stretch + 1) * draw.updates / draw.kills, latest);
    if (kill.way == KillWay::planned) kill.stop_update = kill.update;
    kill.delay_seconds = static_cast<double>(random() % 1000) / 1000 * longest_delay;
    kill.victim = random();
    kills.push_back(kill);
  }
  return kills;
}

}  // namespace rubato::app
