// Names of backends and instruction sets, the process-wide choice of kernels, and the check of the
// arithmetic.
#include "nn/backend.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cfenv>
#include <mutex>
#include <stdexcept>

#include "nn/compute_thread.hpp"
#ifdef RUBATO_HAS_ONEDNN
#include <oneapi/dnnl/dnnl.h>
#endif

namespace rubato::nn {
namespace {

// Instruction sets in ascending order. Later oneDNN sets (VNNI, BF16, AMX) bring nothing for float
// and are left out, so that hosts that differ only in them compute alike.
const std::vector<std::string>& isa_names() {
  static const std::vector<std::string> names = {"sse41", "avx", "avx2", "avx512_core"};
  return names;
}

std::string listed(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

std::string compiled_isa() {
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
  return "avx512_core";
#elif defined(__AVX2__)
  return "avx2";
#elif defined(__AVX__)
  return "avx";
#elif defined(__SSE4_1__)
  return "sse41";
#else
  return "baseline";
#endif
}

bool cpu_has(const std::string& isa) {
#if defined(__x86_64__)
  if (isa == "sse41") return __builtin_cpu_supports("sse4.1") != 0;
  if (isa == "avx") return __builtin_cpu_supports("avx") != 0;
  if (isa == "avx2") {
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  }
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
#else
  static_cast<void>(isa);
  return false;
#endif
}

void require_known_isa(const std::string& isa) {
  if (std::find(isa_names().begin(), isa_names().end(), isa) != isa_names().end()) return;
  throw std::invalid_argument("unknown instruction set \"" + isa + "\"; valid are auto, " +
                              listed(isa_names()));
}

// Eigen's blocking, and with it the order of its sums, follows the cache sizes of the host: fix
// them.
void fix_eigen_blocking() {
  Eigen::setCpuCacheSizes(32 * 1024, 512 * 1024, 4 * 1024 * 1024);
  Eigen::setNbThreads(1);
}

void select_eigen(const std::string& isa) {
  if (isa == "auto" || isa == compiled_isa()) return;
  throw std::invalid_argument("instruction set " + isa + ": this build's Eigen kernels are for " +
                              compiled_isa() + " alone; use auto or the onednn backend");
}

#ifdef RUBATO_HAS_ONEDNN
dnnl_cpu_isa_t onednn_isa(const std::string& isa) {
  if (isa == "sse41") return dnnl_cpu_isa_sse41;
  if (isa == "avx") return dnnl_cpu_isa_avx;
  if (isa == "avx2") return dnnl_cpu_isa_avx2;
  return dnnl_cpu_isa_avx512_core;
}

std::string name_of(dnnl_cpu_isa_t isa) {
  switch (isa) {
    case dnnl_cpu_isa_sse41:
      return "sse41";
    case dnnl_cpu_isa_avx:
      return "avx";
    case dnnl_cpu_isa_avx2:
      return "avx2";
    case dnnl_cpu_isa_avx512_core:
      return "avx512_core";
    default:
      return "other (" + std::to_string(isa) + ")";
  }
}

void select_onednn(const std::string& isa) {
  const std::string limit = isa == "auto" ? isa_names().back() : isa;
  if (dnnl_set_max_cpu_isa(onednn_isa(limit)) != dnnl_success) {
    throw std::logic_error("instruction set " + limit +
                           ": oneDNN was used before select_kernels() was called");
  }
}
#else
void select_onednn(const std::string&) {
  throw std::invalid_argument("backend onednn is not in this build");
}
#endif

// What this process has chosen so far.
struct Selection {
  std::mutex mutex;
  std::string isa;                 // empty: nothing yet
  bool is_onednn_limited = false;  // oneDNN takes a limit once, before its first use
};

Selection& selection() {
  static Selection instance;
  return instance;
}

}  // namespace

std::vector<std::string> backend_names() {
#ifdef RUBATO_HAS_ONEDNN
  return {"onednn", "onednn-direct", "eigen"};
#else
  return {"eigen"};
#endif
}

Backend backend(const std::string& name) {
  const std::vector<std::string> names = backend_names();
  const std::string& chosen = name == "auto" ? names.front() : name;
  if (std::find(names.begin(), names.end(), chosen) == names.end()) {
    throw std::invalid_argument("unknown backend \"" + name + "\"; this build has auto, " +
                                listed(names));
  }
  if (chosen == "eigen") return Backend::eigen;
  return chosen == "onednn" ? Backend::onednn : Backend::onednn_direct;
}

void select_kernels(Backend backend, const std::string& isa) {
  if (isa != "auto") {
    require_known_isa(isa);
    if (!cpu_has(isa)) {
      throw std::invalid_argument("instruction set " + isa + ": this CPU does not have it");
    }
  }
  Selection& current = selection();
  const std::lock_guard lock(current.mutex);
  if (!current.isa.empty() && current.isa != isa) {
    throw std::logic_error("kernels were selected with instruction set " + current.isa +
                           " before; a process cannot change to " + isa);
  }
  hold_to_one_thread();
  fix_eigen_blocking();
  if (backend == Backend::eigen) select_eigen(isa);
  if (backend != Backend::eigen && !current.is_onednn_limited) {
    select_onednn(isa);
    current.is_onednn_limited = true;
  }
  current.isa = isa;
}

Kernels kernels(Backend backend) {
#ifdef RUBATO_HAS_ONEDNN
  if (backend != Backend::eigen) {
    const dnnl_version_t* const v = dnnl_version();
    return {backend == Backend::onednn ? "onednn" : "onednn-direct",
            "oneDNN " + std::to_string(v->major) + "." + std::to_string(v->minor) + "." +
                std::to_string(v->patch),
            name_of(dnnl_get_effective_cpu_isa())};
  }
#endif
  static_cast<void>(backend);
  return {"eigen",
          "Eigen " + std::to_string(EIGEN_WORLD_VERSION) + "." +
              std::to_string(EIGEN_MAJOR_VERSION) + "." + std::to_string(EIGEN_MINOR_VERSION),
          compiled_isa()};
}

}  // namespace rubato::nn
