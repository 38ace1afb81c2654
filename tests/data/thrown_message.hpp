// The message of the exception that a call must throw, so that a test can read it.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace rubato::data {

// Fails the test, and returns "", unless `call` throws exactly an Error or something derived from
// it.
template <typename Error, typename Call>
std::string thrown_message(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another kind of exception: " << error.what();
    return "";
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

}  // namespace rubato::data
