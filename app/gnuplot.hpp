// Runs gnuplot, which draws the plots of reports: a program of the distribution (Debian package
// gnuplot-nox), found on the PATH, asked without the settings of its user.
#pragma once

#include <stdexcept>
#include <string>

namespace rubato::app {

// There is no gnuplot, or it did not draw. The sentence says what to do.
class GnuplotError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What it writes on standard output for this script. Throws GnuplotError; std::system_error where
// there is no room for temporary files.
std::string gnuplot_output(const std::string& script);

}  // namespace rubato::app
