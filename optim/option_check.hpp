// The two things that can be wrong with an option of this folder, each with one sentence that names
// it: a value outside its range and a name that nobody knows. Every update is checked too, so what
// is right costs no string.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rubato::optim {

// Throws std::invalid_argument unless `is_valid`: "weight decay is -1; expected a finite number, 0
// or more".
void require_value(bool is_valid, std::string_view what, double value, std::string_view expected);

// The common ranges. Neither lets a NaN or an infinity through.
void require_at_least_zero(std::string_view what, double value);
void require_above_zero(std::string_view what, double value);
void require_fraction(std::string_view what, double value);  // [0, 1)
// What is added to a divisor: still above 0 as a T, the type of the parameters.
template <class T>
void require_epsilon(double value);

// Throws std::invalid_argument: "unknown optimizer 'sdg'; valid names: sgd, adam, adamw".
[[noreturn]] void throw_unknown_name(const std::string& what, const std::string& name,
                                     const std::vector<std::string>& valid_names);

}  // namespace rubato::optim
