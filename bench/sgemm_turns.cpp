// Square matrix products that can take turns with trainings: it tells of each as `rubato train`
// does of updates in metrics.jsonl, the MFLOP computed in place of the samples.
//
//   sgemm_turns BACKEND PRODUCTS LOG
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include "bench/square_product.hpp"
#include "nn/backend.hpp"

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: sgemm_turns BACKEND PRODUCTS LOG\n";
    return 64;
  }
  using namespace rubato;
  nn::select_kernels(nn::backend("auto"), "auto");
  const nn::Backend backend = nn::backend(argv[1]);
  const long products = std::strtol(argv[2], nullptr, 10);
  std::ofstream log(argv[3]);
  const std::string line = R"({"type":"update","batch_size":)" +
                           std::to_string(1e3 * bench::SquareProduct::gflop) + "}\n";
  bench::SquareProduct product;
  for (long i = 0; i < products; ++i) {
    product.multiply(backend);
    log << line << std::flush;
  }
  return 0;
}
