// Whether the system has been asked for huge pages where an address lies (proc(5), VmFlags).
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace rubato {

inline std::uintptr_t address_of(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);  // NOLINT(*-reinterpret-cast)
}

inline bool is_to_be_huge(std::uintptr_t address) {
  std::ifstream areas("/proc/self/smaps");
  bool is_its_area = false;
  for (std::string line; std::getline(areas, line);) {
    std::istringstream words(line);
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    char dash = 0;
    if (words >> std::hex >> begin >> dash >> end && dash == '-') {
      is_its_area = begin <= address && address < end;
    } else if (is_its_area && line.starts_with("VmFlags:")) {
      return (line + ' ').find(" hg ") != std::string::npos;
    }
  }
  return false;
}

// Whether this system has huge pages that one can ask for.
inline bool huge_pages_can_be_asked_for() {
  return std::filesystem::exists("/sys/kernel/mm/transparent_hugepage");
}

}  // namespace rubato
