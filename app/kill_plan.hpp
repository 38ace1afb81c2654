// The kills that a run is given: drawn from a seed, spread over the whole run.
//
// The run's updates are cut into as many equal stretches as there are kills, and each stretch has
// its kill somewhere within. Ways, moments and numbers of ranks are dealt like cards, deck after
// deck, so that a few kills already show all of them. Every start is also told to stop by itself,
// since some signals take seconds to work: two stretches later, or at the end of its own stretch
// where the run is too fast to be hit (a stretch takes no longer than a signal). An update is left
// to each kill to come.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rubato::app {

enum class KillWay { rank, launcher, stop, terminate, planned };
enum class KillMoment { after_update, while_saving, at_start };

std::string name_of(KillWay way);        // "SIGKILL to a rank"
std::string name_of(KillMoment moment);  // "while saving"; empty for after_update

struct Kill {
  KillWay way = KillWay::rank;
  KillMoment moment = KillMoment::after_update;
  std::uint64_t ranks = 1;        // of the start that is killed
  std::uint64_t update = 1;       // not before this one is done (at_start: does not count)
  std::uint64_t stop_update = 1;  // the start stops by itself after this one
  double delay_seconds = 0;       // at_start: after the launch of mpirun
  std::uint64_t victim = 0;       // which rank, modulo those that live

  bool operator==(const Kill&) const = default;
};

struct KillDraw {
  std::uint64_t kills = 10;
  std::uint64_t seed = 0;
  std::vector<std::uint64_t> ranks{1};  // to choose from
  std::uint64_t updates = 0;            // of the whole run
  bool is_fast = false;                 // too fast to be hit
};

// Throws std::invalid_argument unless there are more updates than kills.
std::vector<Kill> draw_kills(const KillDraw& draw);

}  // namespace rubato::app
