// A command's options as a table: each has a name, a kind, a default and a description, and from
// that follow parsing, checking, help, and the configuration file.
//
// Boost.ProgramOptions splits the command line and the file into names and words; everything after
// that is done here, so that every complaint is one sentence with the option's name, what was found
// and what was expected. Words are taken literally: no abbreviations, no option twice, numbers in
// full or not at all. The price is that values stay text until asked for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rubato::app {

enum class OptionKind { text, choice, integer, number, flag };
enum class OptionRange { positive, not_negative };  // of integers and numbers

// Another option, and the values of it with which an option has a meaning.
struct Condition {
  std::string option = {};               // empty: always
  std::vector<std::string> values = {};  // empty: any
};

struct Option {
  std::string name = {};  // without the dashes
  OptionKind kind = OptionKind::text;
  std::string default_value = {};  // empty: no value unless given (flags: false)
  std::string value_name = {};     // for help: "N", "FILE"; flags and choices need none
  std::string group = {};          // heading in help
  std::string description = {};
  std::vector<std::string> choices = {};      // of a choice
  OptionRange range = OptionRange::positive;  // of an integer or a number
  Condition only_with = {};                   // refused with other values, and has none then
  bool is_recorded = true;  // false for what belongs to one invocation (--out, --overwrite)
  bool may_change = false;  // of a recorded one: when a run goes on from a checkpoint
};

// Arguments that are no options, such as the FILE in `trace show FILE`.
struct Positionals {
  std::string names = {};  // for help and messages: "FILE", "PATH..."
  std::size_t least = 0;
  std::size_t most = 0;
};

// Where a value came from; the later one wins.
enum class ValueSource { none, default_value, resumed_run, config_file, command_line };

// What a command line (and a configuration file) said.
class Options {
 public:
  // --help or -h was among the arguments; nothing else is filled in then.
  bool wants_help() const noexcept { return wants_help_; }

  bool is_given(std::string_view name) const;   // on the command line or in the configuration file
  bool has_value(std::string_view name) const;  // given, or has a default

  // The value, as its kind. Asking for a name that is not in the table, for another kind, or for a
  // value where there is none is std::logic_error.
  const std::string& text(std::string_view name) const;  // also of a choice
  std::uint64_t integer(std::string_view name) const;
  double number(std::string_view name) const;
  bool flag(std::string_view name) const;  // false where there is no value

  // The same, or nothing where there is no value.
  std::optional<std::string> text_if(std::string_view name) const;
  std::optional<std::uint64_t> integer_if(std::string_view name) const;
  std::optional<double> number_if(std::string_view name) const;

  const std::vector<std::string>& positionals() const noexcept { return positionals_; }

  // Every recorded option that has a value, defaults included, as an ini file that --config reads
  // back to the same values. Throws UsageError for a value that such a file cannot hold (line
  // breaks, '#', blanks at its ends).
  std::string as_ini() const;

 private:
  friend class OptionTable;
  struct Value {
    Option option;
    std::string text;
    ValueSource source = ValueSource::none;
  };
  const Value& find(std::string_view name) const;
  const std::string& require(std::string_view name, OptionKind kind) const;

  std::vector<Value> values_;  // in the table's order
  std::vector<std::string> positionals_;
  bool wants_help_ = false;
};

// Whether --help or -h is among the arguments: to be known before MPI starts, so that help needs no
// MPI.
bool asks_for_help(int argc, char** argv);

class OptionTable {
 public:
  struct About {
    std::string command = {};   // "plan", "trace show"
    std::string summary = {};   // one sentence
    std::string example = {};   // a command line
    std::string notes = {};     // printed after the options
    std::string rest = {};      // what follows them on a command line: "-- TRAIN OPTIONS"
    bool reads_config = false;  // adds --config FILE.ini; the command line wins over the file
    // Sets of options of which one source may give only one; one on the command line puts the
    // others of its set, where the file gives them, out of force.
    std::vector<std::vector<std::string>> alternatives = {};
    Positionals positionals = {};
  };
  OptionTable(About about, std::vector<Option> options);

  // Throws UsageError for the command line; data::ContentError for the configuration file, or
  // data::MissingFileError if it cannot be read. `resumed` is the configuration of the run that
  // this one goes on with: it comes before the defaults only.
  Options parse(const std::vector<std::string>& arguments, const std::string& resumed = {}) const;
  Options parse(int argc, char** argv, int first = 2, const std::string& resumed = {}) const;

  // Throws UsageError naming the first option that differs from the resumed run's and may not.
  void require_unchanged(const Options& options, const std::string& resumed) const;

  std::string help() const;

  const std::vector<Option>& options() const noexcept { return options_; }
  std::vector<std::string> names() const;
  const Option* find(std::string_view name) const;  // nothing: there is none of that name

 private:
  void take_command_line(const std::vector<std::string>& arguments, Options& options) const;
  void take_config(const std::string& name, const std::string& text, ValueSource source,
                   Options& options) const;
  void set(Options& options, const std::string& name, const std::string& text,
           ValueSource source) const;
  void check_positionals(const Options& options) const;
  // The alternative to an option that is given instead of it; the option itself if none is.
  const std::string& in_place_of(const std::string& name, const Options& options) const;
  void settle_alternatives(Options& options) const;
  void settle_conditions(Options& options) const;

  About about_;
  std::vector<Option> options_;
};

}  // namespace rubato::app
