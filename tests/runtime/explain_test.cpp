#include "runtime/explain.hpp"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include "collectives/agreement.hpp"
#include "data/errors.hpp"
#include "runtime/errors.hpp"

namespace rubato::runtime {
namespace {

template <class Exception>
collectives::Failure explained(const Exception& exception) {
  return explain(std::make_exception_ptr(exception));
}

TEST(Explain, GivesEveryKindItsExitCodeAndKeepsItsSentence) {
  const auto expect = [](int code, const auto& exception) {
    const auto failure = explained(exception);
    EXPECT_EQ(failure.exit_code, code) << exception.what();
    EXPECT_EQ(failure.message, exception.what());
  };
  expect(64, std::invalid_argument("a value"));
  expect(65, data::ContentError("t.csv:3: a number"));
  expect(66, data::MissingFileError("t.csv"));
  expect(70, RunError("no longer finite"));
  expect(71, std::system_error(std::make_error_code(std::errc::no_space_on_device), "fork"));
  expect(73, OutputError("runs/a is in use"));
  expect(74, WriteError("disk full"));
}

TEST(Explain, PassesOnWhatTheRanksAgreedUpon) {
  const auto failure = explained(collectives::AgreedFailure({75, "stopped"}));
  EXPECT_EQ(failure.exit_code, 75);
  EXPECT_EQ(failure.message, "stopped");
}

TEST(Explain, SaysThatMemoryRanOut) {
  const auto failure = explained(std::bad_alloc());
  EXPECT_EQ(failure.exit_code, 71);
  EXPECT_NE(failure.message.find("memory"), std::string::npos);
}

TEST(Explain, CallsAllElseAnInternalError) {
  EXPECT_EQ(explained(std::logic_error("no option --x")).message, "internal error: no option --x");
  EXPECT_EQ(explained(std::out_of_range("epoch")).exit_code, 70);
  EXPECT_EQ(explained(7).exit_code, 70);
}

}  // namespace
}  // namespace rubato::runtime
