// See options.hpp: from a command line and a configuration file to checked values.
#include <algorithm>
#include <boost/program_options.hpp>
#include <sstream>

#include "app/failure.hpp"
#include "app/file_text.hpp"
#include "app/option_value.hpp"
#include "app/options.hpp"
#include "app/spelling.hpp"
#include "data/errors.hpp"

namespace rubato::app {
namespace {

namespace po = boost::program_options;

// The table in Boost's words: all values are text.
po::options_description describe(const std::vector<Option>& options) {
  po::options_description description;
  for (const auto& option : options) {
    description.add_options()(option.name.c_str(), po::value<std::string>());
  }
  return description;
}

// Flags spelt out, --flag as --flag=true, lest Boost take the word that follows for their value.
std::vector<std::string> with_flags_spelt_out(std::vector<std::string> arguments,
                                              const std::vector<Option>& options) {
  for (auto& word : arguments) {
    const auto is_this_flag = [&](const Option& option) {
      return option.kind == OptionKind::flag && word == "--" + option.name;
    };
    if (std::any_of(options.begin(), options.end(), is_this_flag)) word += "=true";
  }
  return arguments;
}

std::string read_config(const std::string& file) {
  auto text = read_text(file);
  if (!text) throw data::MissingFileError("configuration file " + file + " cannot be read");
  return *std::move(text);
}

po::parsed_options split_command_line(const std::vector<std::string>& arguments,
                                      const po::options_description& description) {
  namespace style = po::command_line_style;
  try {
    return po::command_line_parser(arguments)
        .options(description)
        .style(style::allow_long | style::long_allow_adjacent | style::long_allow_next)
        .allow_unregistered()
        .run();
  } catch (const po::error_with_option_name& error) {  // nothing follows the name, or after "="
    throw UsageError(error.get_option_name() + ": a value is missing");
  }
}

bool is_help(std::string_view word) { return word == "--help" || word == "-h"; }

po::parsed_options split_config(const std::string& name, const std::string& text,
                                const po::options_description& description) {
  std::istringstream lines(text);
  try {
    return po::parse_config_file(lines, description, true);
  } catch (const po::invalid_config_file_syntax& error) {
    throw data::ContentError(name + ": \"" + error.tokens() + "\": expected a line NAME = VALUE");
  }
}

}  // namespace

bool asks_for_help(int argc, char** argv) { return std::any_of(argv + 1, argv + argc, is_help); }

OptionTable::OptionTable(About about, std::vector<Option> options)
    : about_(std::move(about)), options_(std::move(options)) {
  if (!about_.reads_config) return;
  options_.push_back({.name = "config",
                      .value_name = "FILE.ini",
                      .group = "Configuration",
                      .description = "read options from a file of lines NAME = VALUE",
                      .is_recorded = false});
}

const Option* OptionTable::find(std::string_view name) const {
  const auto found = std::find_if(options_.begin(), options_.end(),
                                  [&](const Option& option) { return option.name == name; });
  return found == options_.end() ? nullptr : &*found;
}

std::vector<std::string> OptionTable::names() const {
  std::vector<std::string> names;
  for (const auto& option : options_) names.push_back(option.name);
  return names;
}

Options OptionTable::parse(int argc, char** argv, int first, const std::string& resumed) const {
  return parse(std::vector<std::string>(argv + std::min(first, argc), argv + argc), resumed);
}

Options OptionTable::parse(const std::vector<std::string>& arguments,
                           const std::string& resumed) const {
  Options options;
  options.wants_help_ = std::any_of(arguments.begin(), arguments.end(), is_help);
  if (options.wants_help_) return options;
  for (const auto& option : options_) {
    const bool is_flag = option.kind == OptionKind::flag;
    const std::string& value = option.default_value;
    const auto source = value.empty() && !is_flag ? ValueSource::none : ValueSource::default_value;
    options.values_.push_back({option, is_flag && value.empty() ? "false" : value, source});
  }
  take_command_line(arguments, options);
  if (about_.reads_config && options.is_given("config")) {
    const std::string& file = options.text("config");
    take_config(file, read_config(file), ValueSource::config_file, options);
  }
  take_config("the checkpoint's configuration", resumed, ValueSource::resumed_run, options);
  settle_alternatives(options);
  settle_conditions(options);
  return options;
}

void OptionTable::take_command_line(const std::vector<std::string>& arguments,
                                    Options& options) const {
  const auto description = describe(options_);
  const auto words = with_flags_spelt_out(arguments, options_);
  for (const auto& word : split_command_line(words, description).options) {
    if (word.string_key.empty()) {
      options.positionals_.push_back(word.value.front());
    } else if (word.unregistered) {
      const auto close = nearest(word.string_key, names());
      throw UsageError("unknown option --" + word.string_key +
                       (close ? "; did you mean --" + *close + "?"
                              : "; see `rubato " + about_.command + " --help`"));
    } else {
      set(options, word.string_key, word.value.front(), ValueSource::command_line);
    }
  }
  check_positionals(options);
}

void OptionTable::take_config(const std::string& name, const std::string& text, ValueSource source,
                              Options& options) const {
  const auto description = describe(options_);
  try {
    for (const auto& word : split_config(name, text, description).options) {
      if (word.string_key == "config") throw UsageError("config: a file cannot name another");
      if (word.unregistered) {
        const auto close = nearest(word.string_key, names());
        throw UsageError("unknown key \"" + word.string_key + "\"" +
                         (close ? "; did you mean \"" + *close + "\"?" : ""));
      }
      set(options, word.string_key, word.value.front(), source);
    }
  } catch (const UsageError& error) {
    throw data::ContentError(name + ": " + error.what());
  }
}

const std::string& OptionTable::in_place_of(const std::string& name, const Options& options) const {
  for (const auto& set : about_.alternatives) {
    if (std::find(set.begin(), set.end(), name) == set.end()) continue;
    for (const auto& other : set) {
      if (options.is_given(other)) return other;
    }
  }
  return name;
}

void OptionTable::require_unchanged(const Options& options, const std::string& resumed) const {
  const Options before = parse(std::vector<std::string>(), resumed);
  for (const auto& [option, text, source] : options.values_) {
    if (!option.is_recorded || option.may_change || before.find(option.name).text == text) continue;
    const auto& was = before.find(option.name);
    if (option.kind == OptionKind::number && source != ValueSource::none &&
        was.source != ValueSource::none &&
        before.number(option.name) == options.number(option.name)) {
      continue;
    }
    const std::string& said = text.empty() ? in_place_of(option.name, options) : option.name;
    const std::string& value = options.find(said).text;
    throw UsageError("--" + said + " " + (value.empty() ? "(none)" : value) +
                     ": the run to go on with has " +
                     (said == option.name ? "" : "--" + option.name + " ") +
                     (was.text.empty() ? "none" : was.text) +
                     ", and a resumed run keeps it; leave the option out, or begin another run");
  }
}

void OptionTable::set(Options& options, const std::string& name, const std::string& text,
                      ValueSource source) const {
  const bool is_line = source == ValueSource::command_line;
  const std::string subject = (is_line ? "--" : "") + name;
  for (auto& value : options.values_) {
    if (value.option.name != name) continue;
    if (value.source == source) throw UsageError(subject + " is given twice; give it once");
    // A missing value makes the parser take the next option for it.
    if (is_line && text.rfind("--", 0) == 0) throw UsageError(subject + ": a value is missing");
    check_value(value.option, text, subject);
    if (value.source < source) {
      value.text = text;
      value.source = source;
    }
  }
}

void OptionTable::check_positionals(const Options& options) const {
  const auto& [names, least, most] = about_.positionals;
  const std::size_t count = options.positionals_.size();
  if (count < least) {
    throw UsageError(about_.command + ": " + names + " is missing");
  }
  if (count > most) {
    throw UsageError("unexpected argument \"" + options.positionals_[most] + "\"; see `rubato " +
                     about_.command + " --help`");
  }
}

void OptionTable::settle_alternatives(Options& options) const {
  for (const auto& set : about_.alternatives) {
    const std::string* winner = nullptr;
    auto strongest = ValueSource::default_value;
    for (const auto& name : set) {
      const auto source = options.find(name).source;
      if (source > ValueSource::default_value && source == strongest) {
        throw UsageError("--" + *winner + " and --" + name + " exclude each other; give one");
      }
      if (source > strongest) winner = &name;
      strongest = std::max(strongest, source);
    }
    if (winner == nullptr) continue;
    const auto is_loser = [&](const std::string& name) {
      return name != *winner && std::find(set.begin(), set.end(), name) != set.end();
    };
    for (auto& value : options.values_) {
      const bool goes = is_loser(value.option.name) || is_loser(value.option.only_with.option);
      if (goes && value.source < strongest) value = {value.option, {}, ValueSource::none};
    }
  }
}

// An option that its condition rules out is a mistake, unless what rules it out was said later:
// then it has no value, and is not recorded.
void OptionTable::settle_conditions(Options& options) const {
  for (auto& value : options.values_) {
    const auto& [name, values] = value.option.only_with;
    if (name.empty()) continue;
    const auto& deciding = options.find(name);
    const bool is_met =
        values.empty() ? !deciding.text.empty()
                       : std::find(values.begin(), values.end(), deciding.text) != values.end();
    if (is_met) continue;
    if (values.empty() && value.source >= ValueSource::config_file) {
      throw UsageError("--" + value.option.name + " needs --" + name);
    }
    if (value.source >= std::max(deciding.source, ValueSource::config_file)) {
      throw UsageError("--" + value.option.name + " needs --" + name + " " +
                       joined(values, " or ") + ", but the run has --" + name + " " +
                       deciding.text);
    }
    value = {value.option, {}, ValueSource::none};
  }
}

}  // namespace rubato::app
