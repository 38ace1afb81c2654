// See options.hpp. The table itself, and what reads it, is in option_table.cpp.
#include "app/options.hpp"

#include <algorithm>
#include <stdexcept>

#include "app/failure.hpp"
#include "app/option_value.hpp"

namespace rubato::app {
namespace {

// What Boost's reader of ini files gives back unchanged: it ends a line at '#' and trims blanks.
bool fits_in_ini(const std::string& text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  return text.find_first_of("#\n\r") == std::string::npos && !is_blank(text.front()) &&
         !is_blank(text.back());
}

}  // namespace

const Options::Value& Options::find(std::string_view name) const {
  const auto place = std::find_if(values_.begin(), values_.end(),
                                  [&](const Value& value) { return value.option.name == name; });
  if (place == values_.end()) throw std::logic_error("no option --" + std::string(name));
  return *place;
}

const std::string& Options::require(std::string_view name, OptionKind kind) const {
  const Value& value = find(name);
  const bool is_text = kind == OptionKind::text && value.option.kind == OptionKind::choice;
  if (value.option.kind != kind && !is_text) {
    throw std::logic_error("option --" + value.option.name + " is of another kind");
  }
  if (value.source == ValueSource::none) {
    throw std::logic_error("option --" + value.option.name + " has no value");
  }
  return value.text;
}

bool Options::is_given(std::string_view name) const {
  return find(name).source >= ValueSource::config_file;
}

bool Options::has_value(std::string_view name) const {
  return find(name).source != ValueSource::none;
}

const std::string& Options::text(std::string_view name) const {
  return require(name, OptionKind::text);
}

std::uint64_t Options::integer(std::string_view name) const {
  return parse_whole<std::uint64_t>(require(name, OptionKind::integer)).value();
}

double Options::number(std::string_view name) const {
  return parse_whole<double>(require(name, OptionKind::number)).value();
}

bool Options::flag(std::string_view name) const {
  return has_value(name) && require(name, OptionKind::flag) == "true";
}

std::optional<std::string> Options::text_if(std::string_view name) const {
  return has_value(name) ? std::optional(text(name)) : std::nullopt;
}

std::optional<std::uint64_t> Options::integer_if(std::string_view name) const {
  return has_value(name) ? std::optional(integer(name)) : std::nullopt;
}

std::optional<double> Options::number_if(std::string_view name) const {
  return has_value(name) ? std::optional(number(name)) : std::nullopt;
}

std::string Options::as_ini() const {
  std::string ini;
  std::string group;
  for (const auto& [option, text, source] : values_) {
    if (!option.is_recorded || source == ValueSource::none) continue;
    if (!fits_in_ini(text)) {
      throw UsageError("--" + option.name + " \"" + text + "\": a configuration file cannot hold " +
                       "'#', line breaks, or blanks at the ends; use another name");
    }
    if (option.group != group) ini += (ini.empty() ? "# " : "\n# ") + option.group + "\n";
    group = option.group;
    ini += option.name + " = " + text + "\n";
  }
  return ini;
}

}  // namespace rubato::app
