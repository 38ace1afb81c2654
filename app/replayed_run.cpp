// See replayed_run.hpp.
#include "app/replayed_run.hpp"

#include <algorithm>
#include <filesystem>

#include "app/adaptive_option.hpp"
#include "data/errors.hpp"

namespace rubato::app {
namespace {

namespace fs = std::filesystem;

void erase_replay(std::vector<std::string>& words) {
  const auto is_replay = [](const std::string& word) {
    return word == "--replay" || word.rfind("--replay=", 0) == 0;
  };
  const auto found = std::ranges::find_if(words, is_replay);
  const bool is_apart = *found == "--replay";
  words.erase(found, found + (is_apart ? 2 : 1));
}

}  // namespace

std::vector<std::string> with_replay_written_out(const OptionTable& table,
                                                 std::vector<std::string> words) {
  const Options given = table.parse(words);
  if (!given.has_value("replay")) return words;
  const fs::path run = given.text("replay");
  const std::string config = (run / "config.ini").string();
  if (!fs::exists(config)) {
    throw data::MissingFileError("--replay: " + config +
                                 " does not exist; give the directory of a run");
  }
  erase_replay(words);
  words.insert(words.end(), {"--config", config});
  const Options before = table.parse(std::vector<std::string>{"--config", config});
  const auto limits = batch_limits(before);
  const fs::path trace = run / (limits ? "decisions.csv" : "trace.csv");
  if (limits || before.has_value("trace")) words.insert(words.end(), {"--trace", trace.string()});
  if (limits && !given.has_value("reference-batch") && !before.has_value("reference-batch")) {
    words.insert(words.end(), {"--reference-batch", std::to_string(limits->initial_batch)});
  }
  return words;
}

}  // namespace rubato::app
