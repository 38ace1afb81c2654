#include "app/failure.hpp"

#include <gtest/gtest.h>

#include <boost/program_options/errors.hpp>
#include <stdexcept>

#include "app/gnuplot.hpp"
#include "data/errors.hpp"

namespace rubato::app {
namespace {

template <class Exception>
collectives::Failure explained(const Exception& exception) {
  return explain(std::make_exception_ptr(exception));
}

TEST(Explain, AWrongWordIsAWrongUse) {
  EXPECT_EQ(explained(UsageError("an option")).exit_code, 64);
  EXPECT_EQ(explained(boost::program_options::error("a word")).exit_code, 64);
  EXPECT_EQ(explained(boost::program_options::error("a word")).message, "a word");
}

TEST(Explain, AProgramThatIsMissingIsTheSystems) {
  EXPECT_EQ(explained(GnuplotError("no gnuplot")).exit_code, 71);
  EXPECT_EQ(explained(GnuplotError("no gnuplot")).message, "no gnuplot");
}

TEST(Explain, ForAllElseTheLibraryKnows) {
  EXPECT_EQ(explained(data::ContentError("t.csv:3: a number")).exit_code, exit_content);
  EXPECT_EQ(explained(std::logic_error("no option --x")).message, "internal error: no option --x");
}

}  // namespace
}  // namespace rubato::app
