// See metrics_follower.hpp.
#include "app/metrics_follower.hpp"

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "runtime/metrics_history.hpp"

namespace rubato::app {

namespace fs = std::filesystem;

MetricsFollower::MetricsFollower(fs::path directory, std::uint64_t resumes_from)
    : file_(std::move(directory) / "metrics.jsonl"), update_(resumes_from) {
  std::error_code error;
  const auto time = fs::last_write_time(file_, error);
  if (error) return;
  former_time_ = time;
  // The checkpoint's epoch is not known here: at worst, lines that it keeps are read again.
  if (resumes_from > 0) offset_ = runtime::metrics_history(file_, {.update = resumes_from}).bytes;
}

// Its first act is to cut the file, which changes the file's time.
bool MetricsFollower::has_begun() {
  if (!former_time_) return true;
  std::error_code error;
  const auto time = fs::last_write_time(file_, error);
  if (error || time == *former_time_) return false;
  former_time_.reset();
  return true;
}

void MetricsFollower::look() {
  if (!has_begun()) return;
  std::ifstream in(file_, std::ios::binary);
  if (!in) return;
  in.seekg(static_cast<std::streamoff>(offset_));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  offset_ += text.size();
  partial_line_ += text;
  std::size_t begin = 0;
  for (auto end = partial_line_.find('\n'); end != std::string::npos;
       end = partial_line_.find('\n', begin)) {
    take(partial_line_.substr(begin, end - begin));
    begin = end + 1;
  }
  partial_line_.erase(0, begin);
}

void MetricsFollower::take(const std::string& line) {
  const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return;
  const auto type = json.value("type", "");
  if (type == "update") update_ = json.value("update", update_);
  if (type == "context") resumed_from_ = json.value("resumed_from", std::uint64_t{0});
}

}  // namespace rubato::app
