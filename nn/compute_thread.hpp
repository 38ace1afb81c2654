// One compute thread per rank: the number of threads changes the order of the sums inside a matrix
// product, and so its bits.
#pragma once

namespace rubato::nn {

// Holds the OpenMP runtime that oneDNN brought into the process, if any, to one thread for work
// started by the calling thread. Costs nanoseconds, so every pass of a model does it: it cannot be
// forgotten for a thread or undone elsewhere.
void hold_to_one_thread();

}  // namespace rubato::nn
