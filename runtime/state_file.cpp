// One object, indented: people read it with cat.
#include "runtime/state_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <span>
#include <system_error>

#include "data/errors.hpp"
#include "runtime/committed_file.hpp"
#include "runtime/utc_time.hpp"

namespace rubato::runtime {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<const char*, 4> state_names{"running", "preempted", "finished", "failed"};
constexpr std::size_t largest_bytes = 1U << 20U;

// At most largest_bytes + 1 bytes of a regular file.
std::string beginning_of(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  struct stat status {};
  if (descriptor < 0 || ::fstat(descriptor, &status) != 0) {
    throw data::MissingFileError("cannot open " + file.string() + ": " +
                                 std::generic_category().message(errno));
  }
  std::string text(S_ISREG(status.st_mode) ? largest_bytes + 1 : 0, '\0');
  std::size_t size = 0;
  for (ssize_t count = 1; count > 0 && size < text.size();
       size += static_cast<std::size_t>(count)) {
    count = std::max(ssize_t{0}, ::read(descriptor, text.data() + size, text.size() - size));
  }
  ::close(descriptor);
  text.resize(size);
  return text;
}

Json parse(const std::filesystem::path& file) {
  const std::string text = beginning_of(file);
  if (text.size() > largest_bytes) {
    throw data::ContentError(file.string() + ": found more than " + std::to_string(largest_bytes) +
                             " bytes, expected the short state of a run");
  }
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    throw data::ContentError(file.string() + ": is not a JSON object, as a run writes it");
  }
  return json;
}

// Reads fields by name; a missing or wrong one is named.
class Fields {
 public:
  Fields(const std::filesystem::path& file, const Json& json) : file_(file), json_(json) {}

  std::uint64_t count(const char* name) const {
    if (!has(name) || !json_[name].is_number_unsigned()) fail(name, "a number without a sign");
    return json_[name].get<std::uint64_t>();
  }
  std::string text(const char* name) const {
    if (!has(name) || !json_[name].is_string()) fail(name, "a text");
    return json_[name].get<std::string>();
  }
  std::vector<std::string> texts(const char* name) const {
    const bool is_list =
        has(name) && json_[name].is_array() &&
        std::ranges::all_of(json_[name], [](const Json& one) { return one.is_string(); });
    if (!is_list) fail(name, "a list of texts");
    return json_[name].get<std::vector<std::string>>();
  }
  bool has(const char* name) const { return json_.contains(name); }
  [[noreturn]] void fail(const char* name, const std::string& expected) const {
    const std::string found = has(name) ? json_[name].dump(-1, ' ', true, replace) : "nothing";
    throw data::ContentError(file_.string() + ": field " + name + ": found " + found.substr(0, 80) +
                             ", expected " + expected);
  }

  static constexpr auto replace = Json::error_handler_t::replace;

 private:
  const std::filesystem::path& file_;
  const Json& json_;
};

RunState state_of(const Fields& fields) {
  const auto found = std::ranges::find(state_names, fields.text("state"));
  if (found == state_names.end()) fields.fail("state", "running, preempted, finished or failed");
  return static_cast<RunState>(found - state_names.begin());
}

}  // namespace

std::string name_of(RunState state) { return state_names.at(static_cast<std::size_t>(state)); }

std::filesystem::path state_path(const std::filesystem::path& directory) {
  return directory / "state.json";
}

void write_status(const std::filesystem::path& directory, const RunStatus& status) {
  Json json{{"state", name_of(status.state)},
            {"update", status.update},
            {"epoch", status.epoch},
            {"samples", status.samples}};
  if (status.total_updates) json["total_updates"] = *status.total_updates;
  json["ranks"] = status.ranks;
  json["hosts"] = status.hosts;
  json["pid"] = status.pid;
  json["started"] = status.started;
  json["written"] = status.written.empty() ? utc_time() : status.written;
  json["reason"] = status.reason;
  if (status.exit_code) json["exit_code"] = *status.exit_code;
  json["resume_command"] = status.resume_command;
  const std::string text = json.dump(2, ' ', false, Fields::replace) + "\n";
  commit_file(state_path(directory), std::as_bytes(std::span<const char>(text)));
}

RunStatus read_status(const std::filesystem::path& directory) {
  const std::filesystem::path file = state_path(directory);
  const Json json = parse(file);
  const Fields fields(file, json);
  RunStatus status;
  status.state = state_of(fields);
  status.update = fields.count("update");
  status.epoch = fields.count("epoch");
  status.samples = fields.count("samples");
  if (fields.has("total_updates")) status.total_updates = fields.count("total_updates");
  status.ranks = fields.count("ranks");
  status.hosts = fields.texts("hosts");
  status.pid = static_cast<std::int64_t>(fields.count("pid"));
  status.started = fields.text("started");
  status.written = fields.text("written");
  status.reason = fields.text("reason");
  if (fields.has("exit_code")) status.exit_code = static_cast<int>(fields.count("exit_code"));
  status.resume_command = fields.text("resume_command");
  return status;
}

}  // namespace rubato::runtime
