// The data set that is built in: 1797 handwritten digits of 8 x 8 pixels (attribution:
// data/digits.LICENSE.md).
#pragma once

#include "data/dataset.hpp"
#include "data/raw_samples.hpp"

namespace rubato::data {

// Every fifth sample tests (359), the others train (1438), both in file order.
Split read_digits();

// Values are 0 to 16. Mean 0.30580668, deviation 0.37644229 of the training pixels scaled to [0,
// 1].
Standardisation digits_standardisation();

}  // namespace rubato::data
