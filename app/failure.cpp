// See failure.hpp.
#include "app/failure.hpp"

#include <boost/program_options/errors.hpp>
#include <utility>

#include "app/gnuplot.hpp"

namespace rubato::app {

collectives::Failure explain(std::exception_ptr exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const boost::program_options::error& error) {
    return {exit_usage, error.what()};
  } catch (const GnuplotError& error) {
    return {exit_system, error.what()};
  } catch (...) {
    return runtime::explain(std::move(exception));
  }
}

}  // namespace rubato::app
