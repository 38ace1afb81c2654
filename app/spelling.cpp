// See spelling.hpp. Three rows of the distance table are enough: a swap looks back two.
#include "app/spelling.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "app/failure.hpp"

namespace rubato::app {
namespace {

std::string list(std::span<const std::string> words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> before(to.size() + 1), above(to.size() + 1), row(to.size() + 1);
  for (std::size_t j = 0; j <= to.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    std::swap(before, above);
    std::swap(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      const bool is_swap = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (is_swap) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[to.size()];
}

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates) {
  std::optional<std::string> best;
  std::size_t fewest = std::max<std::size_t>(word.size() / 3, 1) + 1;
  for (const auto& candidate : candidates) {
    const std::size_t edits = edit_distance(word, candidate);
    if (edits >= fewest) continue;
    fewest = edits;
    best = candidate;
  }
  return best;
}

void require_choice(std::string_view option, std::string_view value,
                    std::span<const std::string> candidates) {
  if (std::find(candidates.begin(), candidates.end(), value) != candidates.end()) return;
  std::string message = "unknown " + std::string(option) + " \"" + std::string(value) + "\"";
  if (const auto close = nearest(value, candidates))
    message += ": did you mean \"" + *close + "\"?";
  throw UsageError(message + " (valid: " + list(candidates) + ")");
}

std::string kind_of(const std::string& specification) {
  return specification.substr(0, specification.find(':'));
}

}  // namespace rubato::app
