// Uses one thing of each folder of the installed library, and fails if one of them is not itself.
#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <span>
#include <string>

#include "collectives/allreduce.hpp"
#include "data/data_source.hpp"
#include "nn/model_zoo.hpp"
#include "optim/scaling_rules.hpp"
#include "runtime/sha256.hpp"

namespace {

bool expect(const std::string& what, bool is_right) {
  std::cout << what << (is_right ? ": right\n" : ": WRONG\n");
  return is_right;
}

}  // namespace

int main() {
  using namespace rubato;
  const std::string abc = "abc";
  bool all = expect("collectives", collectives::allreduce_algorithm("ring") ==
                                       collectives::AllreduceAlgorithm::ring);
  data::DataOptions options;
  options.spec = "digits";
  all &= expect("data", data::open_data(options).train->size() == 1438);
  const auto model = nn::make_model("linear", {8, 8, 1}, 10, nn::Backend::eigen);
  all &= expect("nn", model->layout().tensors().size() == 2);
  all &= expect("optim", !optim::rule_names().empty());
  all &= expect("runtime", runtime::sha256(std::as_bytes(std::span(abc))) ==
                               "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  return all ? EXIT_SUCCESS : EXIT_FAILURE;
}
