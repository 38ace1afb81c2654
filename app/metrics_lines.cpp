// See metrics_lines.hpp.
#include "app/metrics_lines.hpp"

#include <limits>

namespace rubato::app {

bool MetricsLines::next() {
  if (!std::getline(in_, text_) || in_.eof()) return false;
  ++number_;
  return true;
}

bool MetricsLines::is_of(std::string_view type) const {
  constexpr std::string_view head = R"({"type":")";
  const std::string_view line = text_;
  return line.starts_with(head) && line.substr(head.size()).starts_with(type) &&
         line.substr(head.size() + type.size()).starts_with('"');
}

nlohmann::ordered_json MetricsLines::object() const {
  auto found = nlohmann::ordered_json::parse(text_, nullptr, /*allow_exceptions=*/false);
  return found.is_object() ? found : nlohmann::ordered_json(nullptr);
}

double number_in(const nlohmann::ordered_json& line, const char* name) {
  const auto field = line.find(name);
  const bool is_number = field != line.end() && field->is_number();
  return is_number ? field->get<double>() : std::numeric_limits<double>::quiet_NaN();
}

std::uint64_t count_in(const nlohmann::ordered_json& line, const char* name) {
  const auto field = line.find(name);
  const bool is_count = field != line.end() && field->is_number_unsigned();
  return is_count ? field->get<std::uint64_t>() : 0;
}

double seconds_in(const nlohmann::ordered_json& line) {
  const double seconds = number_in(line, "seconds");
  return seconds > 0 ? seconds : 0;
}

}  // namespace rubato::app
