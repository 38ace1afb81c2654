#include "optim/gradient_kernels.hpp"

namespace rubato::optim {

template <class T>
const GradientPasses<T>* passes_of_build() {
  return &passes_here<T>;
}

template const GradientPasses<double>* passes_of_build();
template const GradientPasses<float>* passes_of_build();

}  // namespace rubato::optim
