// What the processor can do, as proc(5) tells of it.
#pragma once

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

namespace rubato {

// None where the system tells of none.
inline std::set<std::string> processor_flags() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("flags")) continue;
    std::istringstream words(line);
    return {std::istream_iterator<std::string>(words), {}};
  }
  return {};
}

// Whether it has all of x86-64-v4 that x86-64-v3 has not.
inline bool processor_has_512_bits() {
  const std::set<std::string> flags = processor_flags();
  return std::ranges::all_of(std::array{"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
                             [&](const char* flag) { return flags.contains(flag); });
}

}  // namespace rubato
