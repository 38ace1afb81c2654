// ISO 8601, with Z for UTC.
#include "runtime/utc_time.hpp"

#include <ctime>

namespace rubato::runtime {

std::string utc_time() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::string text(sizeof "2000-01-01T00:00:00Z", '\0');
  text.resize(std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts));
  return text;
}

}  // namespace rubato::runtime
