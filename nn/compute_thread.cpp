// The function is declared here rather than taken from <omp.h>: the OpenMP runtime is the one
// oneDNN is linked to, and another compiler's header may be for another runtime, or missing.
#include "nn/compute_thread.hpp"

#ifdef RUBATO_HAS_ONEDNN
extern "C" void omp_set_num_threads(int threads);
#endif

namespace rubato::nn {

void hold_to_one_thread() {
#ifdef RUBATO_HAS_ONEDNN
  omp_set_num_threads(1);
#endif
}

}  // namespace rubato::nn
