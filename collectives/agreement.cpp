// Agreement costs one tiny allreduce where all is well; texts travel only after a failure.
#include "collectives/agreement.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "collectives/host_name.hpp"

namespace rubato::collectives {
namespace {

constexpr int exit_code_of_disagreement = 71;

std::optional<Failure> failure_of(const std::function<void()>& attempt, const Explain& explain) {
  try {
    attempt();
    return std::nullopt;
  } catch (...) {
    return explain(std::current_exception());
  }
}

// The lowest rank with a failure; the number of ranks if there is none.
std::size_t lowest_failed_rank(const Communicator& communicator, bool has_failed) {
  const auto above = static_cast<std::int64_t>(communicator.size() - communicator.rank());
  std::array<std::int64_t, 1> highest{has_failed ? above : 0};
  communicator.maximum(highest);
  return communicator.size() - static_cast<std::size_t>(highest[0]);
}

// "rank 2", "ranks 0-3, 5".
std::string rank_list(const std::vector<std::size_t>& ranks) {
  std::string list = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t first = 0; first < ranks.size();) {
    std::size_t last = first;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) {
      ++last;
    }
    list += (first == 0 ? "" : ", ") + std::to_string(ranks[first]);
    if (last > first) {
      list.append("-").append(std::to_string(ranks[last]));
    }
    first = last + 1;
  }
  return list;
}

// Names and values as one text, and "NAME has no value" where a rank lacks it.
std::string encoded(const std::vector<NamedValue>& values) {
  std::string text;
  for (const NamedValue& each : values) {
    text += std::to_string(each.name.size()) + ":" + each.name + std::to_string(each.value.size()) +
            ":" + each.value;
  }
  return text;
}

std::vector<NamedValue> decoded(const std::string& text) {
  std::vector<NamedValue> values;
  std::size_t position = 0;
  const auto next = [&] {
    const std::size_t colon = text.find(':', position);
    const std::size_t length = std::stoull(text.substr(position, colon - position));
    position = colon + 1 + length;
    return text.substr(colon + 1, length);
  };
  while (position < text.size()) {
    std::string name = next();
    values.push_back({std::move(name), next()});
  }
  return values;
}

std::string value_of(const std::vector<NamedValue>& values, const std::string& name) {
  const auto found = std::ranges::find(values, name, &NamedValue::name);
  return found == values.end() ? "no value" : std::string("'").append(found->value).append("'");
}

// "NAME differs between ranks: ranks 0, 2 have 'x', rank 1 has 'y'"; empty if it does not.
std::string difference(const std::string& name,
                       const std::vector<std::vector<NamedValue>>& of_rank) {
  std::map<std::string, std::vector<std::size_t>> holders;
  for (std::size_t rank = 0; rank < of_rank.size(); ++rank) {
    holders[value_of(of_rank[rank], name)].push_back(rank);
  }
  if (holders.size() == 1) {
    return {};
  }
  std::string message = name + " differs between ranks, but must be the same on all:";
  for (const auto& [value, ranks] : holders) {
    message += (message.back() == ':' ? " " : "; ") + rank_list(ranks) +
               (ranks.size() == 1 ? " has " : " have ") + value;
  }
  return message;
}

}  // namespace

void agree(const Communicator& communicator, const std::function<void()>& attempt,
           const Explain& explain) {
  const std::optional<Failure> mine = failure_of(attempt, explain);
  const std::size_t failed = lowest_failed_rank(communicator, mine.has_value());
  if (failed == communicator.size()) {
    return;
  }
  const std::vector<std::string> messages =
      communicator.gather(mine ? "failed: " + mine->message : std::string());
  const bool all_alike =
      std::ranges::count(messages, messages[0]) == static_cast<std::ptrdiff_t>(messages.size());
  Failure agreed = mine.value_or(Failure{0, {}});
  const std::string where = "rank " + std::to_string(failed) + " on " + host_name() + ": ";
  if (!all_alike) {
    agreed.message = where + agreed.message;
  }
  agreed.message = communicator.broadcast(agreed.message, failed);
  agreed.exit_code = std::stoi(communicator.broadcast(std::to_string(agreed.exit_code), failed));
  throw AgreedFailure(std::move(agreed));
}

void require_same(const Communicator& communicator, const std::vector<NamedValue>& values) {
  std::vector<std::vector<NamedValue>> of_rank;
  for (const std::string& text : communicator.gather(encoded(values))) {
    of_rank.push_back(decoded(text));
  }
  for (const std::vector<NamedValue>& named : of_rank) {
    for (const NamedValue& each : named) {
      const std::string message = difference(each.name, of_rank);
      if (!message.empty()) {
        throw AgreedFailure({exit_code_of_disagreement, message});
      }
    }
  }
}

}  // namespace rubato::collectives
