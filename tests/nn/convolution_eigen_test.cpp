#include "tests/nn/convolution_by_definition.hpp"

namespace rubato::nn {
namespace {

INSTANTIATE_TEST_SUITE_P(Eigen, ConvolutionKernels, testing::Values(Backend::eigen));

}  // namespace
}  // namespace rubato::nn
