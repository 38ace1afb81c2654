// See options.hpp: the text that --help prints. One line an option, longer descriptions go on
// below, under their group's heading.
#include <algorithm>
#include <sstream>

#include "app/option_value.hpp"
#include "app/options.hpp"

namespace rubato::app {
namespace {

constexpr std::size_t description_column = 30;
constexpr std::size_t line_width = 100;

std::string left_column(const Option& option) {
  const bool is_choice = option.kind == OptionKind::choice;
  const std::string value = option.value_name.empty() && is_choice ? "NAME" : option.value_name;
  return "  --" + option.name + (value.empty() ? "" : " " + value);
}

bool names_all_choices(const Option& option) {
  return std::all_of(option.choices.begin(), option.choices.end(), [&](const auto& choice) {
    return option.description.find(choice) != std::string::npos;
  });
}

// The description, and in brackets what the table knows: "(one, other; with --rule x; default
// one)".
std::string right_column(const Option& option) {
  std::vector<std::string> facts;
  if (!names_all_choices(option)) facts.push_back(joined(option.choices, ", "));
  const auto& [name, values] = option.only_with;
  if (!name.empty()) {
    facts.push_back("with --" + name);
    if (!values.empty()) facts.back().append(" ").append(joined(values, " or "));
  }
  if (!option.default_value.empty()) facts.push_back("default " + option.default_value);
  if (facts.empty()) return option.description;
  return option.description + " (" + joined(facts, "; ") + ")";
}

// `text` broken at blanks into lines that begin at the description column; the first goes on after
// `left`.
std::string laid_out(std::string left, const std::string& text) {
  std::string result;
  if (left.size() + 2 > description_column) {
    result = left + "\n";
    left.clear();
  }
  left.resize(description_column, ' ');
  std::string line = left;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (line.size() + 1 + word.size() > line_width) {
      result += line + "\n";
      line.assign(description_column, ' ');
    }
    line += (line.size() > description_column ? " " : "") + word;
  }
  return result + line + "\n";
}

}  // namespace

std::string OptionTable::help() const {
  std::string text =
      "rubato " + about_.command + ": " + about_.summary + "\n\nUsage: rubato " + about_.command;
  if (about_.positionals.most > 0) text += " " + about_.positionals.names;
  text += " [options]" + (about_.rest.empty() ? "" : " " + about_.rest) + "\n";
  std::vector<std::string> groups;
  for (const auto& option : options_) {
    const bool is_known = std::find(groups.begin(), groups.end(), option.group) != groups.end();
    if (!is_known) groups.push_back(option.group);
  }
  for (const auto& group : groups) {
    text += "\n" + group + ":\n";
    for (const auto& option : options_) {
      if (option.group == group) text += laid_out(left_column(option), right_column(option));
    }
  }
  if (!about_.notes.empty()) text += "\n" + about_.notes + "\n";
  return text + "\nExample:\n  " + about_.example + "\n";
}

}  // namespace rubato::app
