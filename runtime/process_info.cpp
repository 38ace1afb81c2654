// The second field of the line is the program's name in parentheses, which may hold anything, even
// spaces and parentheses: fields are counted from the last one.
#include "runtime/process_info.hpp"

#include <fstream>
#include <sstream>
#include <string>

namespace rubato::runtime {

std::optional<ProcessInfo> process_info(pid_t pid) {
  std::ifstream stream("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(stream, text, '\0');  // fails quietly where the process ends meanwhile
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  ProcessInfo info;
  fields >> info.state;                       // field 3
  constexpr int fields_between = 22 - 3 - 1;  // of no interest
  std::string skipped;
  for (int i = 0; i < fields_between; ++i) fields >> skipped;
  fields >> info.start_ticks;  // field 22
  if (!fields) return std::nullopt;
  return info;
}

}  // namespace rubato::runtime
