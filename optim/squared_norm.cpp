#include "optim/squared_norm.hpp"

namespace rubato::optim {

template <class T>
double squared_norm(std::span<const T> values) {
  SquareSum sum;
  sum.add(values);
  return sum.value();
}

template double squared_norm(std::span<const float>);
template double squared_norm(std::span<const double>);

}  // namespace rubato::optim
