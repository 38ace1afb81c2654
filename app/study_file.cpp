// See study_file.hpp. Boost's reader counts no lines, so it is given one at a time, below its
// section's heading.
#include "app/study_file.hpp"

#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "app/file_text.hpp"
#include "app/option_value.hpp"
#include "app/spelling.hpp"
#include "data/errors.hpp"
#include "data/in_quotes.hpp"

namespace rubato::app {
namespace {

namespace po = boost::program_options;

constexpr std::string_view variant_prefix = "variant ";
constexpr std::string_view blanks = " \t\r";

// What the study says to `rubato train` itself, or what makes two runs of a cell differ.
constexpr std::array refused_options{"adaptive", "preempt-exit-code"};

const std::vector<std::string> study_keys{"name", "out", "base-batch"};

std::string trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(blanks) - begin + 1));
}

std::string without_comment(const std::string& line) {
  return trimmed(std::string_view(line).substr(0, line.find('#')));
}

std::string text_of(const std::string& path) {
  if (std::filesystem::is_directory(path)) {
    throw data::MissingFileError("study " + path + " is a directory, expected a file");
  }
  auto text = read_text(path);
  if (!text) throw data::MissingFileError("study " + path + " cannot be read");
  return *std::move(text);
}

class Reader {
 public:
  Reader(std::string path, const OptionTable& train) : path_(std::move(path)), train_(train) {}

  StudyFile read() {
    std::istringstream lines(text_of(path_));
    for (std::string line; std::getline(lines, line);) {
      ++line_;
      const std::string content = without_comment(line);
      if (content.empty()) continue;
      const bool is_heading = content.front() == '[' && content.back() == ']';
      is_heading ? begin_section(trimmed(content.substr(1, content.size() - 2))) : add(line);
    }
    return as_study();
  }

 private:
  void begin_section(const std::string& name) {
    const bool is_variant = name.rfind(variant_prefix, 0) == 0;
    const std::vector<std::string> known{"study", "common", "grid", "variant NAME"};
    if (!is_variant && std::find(known.begin(), known.end(), name) == known.end()) {
      const auto close = nearest(name, known);
      fail(line_, "unknown section " + data::in_quotes(name) +
                      (close ? "; did you mean [" + *close + "]?"
                             : "; expected [study], [common], [grid] or [variant NAME]"));
    }
    const auto former = std::find_if(sections_.begin(), sections_.end(),
                                     [&](const auto& section) { return section.name == name; });
    if (former != sections_.end()) {
      fail(line_, "the section [" + name + "] begins in line " + std::to_string(former->line) +
                      " already; write it once");
    }
    sections_.push_back({.name = name, .line = line_});
  }

  void add(const std::string& line) {
    if (sections_.empty()) fail(line_, "expected a section such as [study] before the first line");
    StudySection& section = sections_.back();
    StudyEntry entry = split(section.name, line);
    require_known(section.name, entry.key);
    if (entry.value.empty()) {
      fail(line_, entry.key + (section.name == "grid" ? ": the list of values is empty"
                                                      : ": a value is missing"));
    }
    require_printable(entry);
    require_once(section, entry.key);
    section.entries.push_back(std::move(entry));
  }

  StudyEntry split(const std::string& section, const std::string& line) const {
    std::istringstream in("[" + section + "]\n" + line + "\n");
    try {
      const auto words = po::parse_config_file(in, po::options_description(), true).options;
      const auto begin = line.find_first_not_of(blanks, line.find('=') + 1);
      return {.key = words.at(0).string_key.substr(section.size() + 1),
              .value = words[0].value.at(0),
              .line = line_,
              .column = std::min(begin, line.size()) + 1};
    } catch (const po::error&) {
      fail(line_, data::in_quotes(trimmed(line)) + ": expected a line NAME = VALUE");
    }
  }

  void require_known(const std::string& section, const std::string& key) const {
    const auto names = section == "study" ? study_keys : option_names();
    if (std::find(names.begin(), names.end(), key) != names.end()) return;
    const auto all = train_.names();
    if (section != "study" && std::find(all.begin(), all.end(), key) != all.end()) {
      fail(line_, key + ": leave it out; a study gives its own, or has no use for it");
    }
    const auto close = nearest(key, names);
    fail(line_, "unknown key " + data::in_quotes(key) + " in [" + section + "]" +
                    (close                ? "; did you mean \"" + *close + "\"?"
                     : section == "study" ? " (valid: " + joined(names, ", ") + ")"
                                          : "; see `rubato train --help`"));
  }

  std::vector<std::string> option_names() const {
    std::vector<std::string> names;
    for (const auto& option : train_.options()) {
      const bool is_refused = std::find(refused_options.begin(), refused_options.end(),
                                        option.name) != refused_options.end();
      if (option.is_recorded && !is_refused) names.push_back(option.name);
    }
    return names;
  }

  // It is part of complaints, and of names of directories.
  void require_printable(const StudyEntry& entry) const {
    const auto is_control = [](char c) { return (c >= 0 && c < ' ' && c != '\t') || c == '\x7f'; };
    if (std::none_of(entry.value.begin(), entry.value.end(), is_control)) return;
    fail(line_, entry.key + ": found " + data::in_quotes(entry.value) +
                    ", expected a value without control characters");
  }

  // In this section, and where another one would say otherwise: variants among themselves may.
  void require_once(const StudySection& section, const std::string& key) const {
    for (const auto& other : sections_) {
      if (&other != &section && are_apart(other, section)) continue;
      for (const auto& entry : other.entries) {
        if (entry.key != key) continue;
        fail(line_, key + " stands in line " + std::to_string(entry.line) + " already, in [" +
                        other.name + "]; give it once");
      }
    }
  }

  // No key of one says anything about the other.
  static bool are_apart(const StudySection& one, const StudySection& other) {
    return one.name == "study" || other.name == "study" || (is_variant(one) && is_variant(other));
  }

  static bool is_variant(const StudySection& section) {
    return section.name.rfind(variant_prefix, 0) == 0;
  }

  StudyFile as_study() const {
    StudyFile study{.path = path_, .name = {}, .directory = {}};
    for (const auto& section : sections_) {
      if (section.name == "study") take_study(section, study);
      if (section.name == "common") study.common = section;
      if (section.name == "grid") study.grid = section;
      if (!is_variant(section)) continue;
      study.variants.push_back(section);
      study.variants.back().name = trimmed(section.name.substr(variant_prefix.size()));
    }
    const std::size_t last = std::max<std::size_t>(line_, 1);
    if (study.name.empty()) fail(last, "the name is missing: a line name = NAME below [study]");
    if (study.directory.empty()) study.directory = study.name;
    if (study.grid.entries.empty() && study.variants.empty()) {
      fail(study.grid.line > 0 ? study.grid.line : last,
           "the grid is empty: give lists of values below [grid], such as batch-size = 64, 128");
    }
    return study;
  }

  static void take_study(const StudySection& section, StudyFile& study) {
    for (const auto& entry : section.entries) {
      if (entry.key == "name") study.name = entry.value;
      if (entry.key == "out") study.directory = entry.value;
      if (entry.key == "base-batch") study.base_batch = entry;
    }
  }

  [[noreturn]] void fail(std::size_t line, const std::string& sentence) const {
    throw data::ContentError(place_in(path_, line) + sentence);
  }

  std::string path_;
  const OptionTable& train_;
  std::size_t line_ = 0;
  std::vector<StudySection> sections_;
};

}  // namespace

StudyFile read_study(const std::string& path, const OptionTable& train) {
  return Reader(path, train).read();
}

std::string place_in(const std::string& path, std::size_t line) {
  return path + ":" + std::to_string(line) + ": ";
}

}  // namespace rubato::app
