// The order of the handlers matters: derived types come before their bases.
#include "runtime/explain.hpp"

#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "collectives/agreement.hpp"
#include "collectives/mpi_error.hpp"
#include "data/errors.hpp"
#include "runtime/errors.hpp"

namespace rubato::runtime {

collectives::Failure explain(std::exception_ptr exception) {
  try {
    std::rethrow_exception(std::move(exception));
  } catch (const collectives::AgreedFailure& agreed) {
    return agreed.failure();
  } catch (const std::invalid_argument& error) {
    return {exit_usage, error.what()};
  } catch (const data::ContentError& error) {
    return {exit_content, error.what()};
  } catch (const data::MissingFileError& error) {
    return {exit_missing_file, error.what()};
  } catch (const OutputError& error) {
    return {exit_cannot_create, error.what()};
  } catch (const WriteError& error) {
    return {exit_io, error.what()};
  } catch (const RunError& error) {
    return {exit_internal, error.what()};
  } catch (const collectives::MpiError& error) {
    return {exit_system, error.what()};
  } catch (const std::system_error& error) {
    return {exit_system, error.what()};
  } catch (const std::bad_alloc&) {
    return {exit_system, "not enough memory: use a smaller minibatch or fewer ranks on this host"};
  } catch (const std::exception& error) {
    return {exit_internal, std::string("internal error: ") + error.what()};
  } catch (...) {
    return {exit_internal, "internal error: something other than an exception was thrown"};
  }
}

}  // namespace rubato::runtime
