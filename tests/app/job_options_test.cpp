// What launch and prove share of their command lines.
#include "app/job_options.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/failure.hpp"

namespace rubato::app {
namespace {

Options parse(const std::vector<std::string>& arguments) {
  return OptionTable({.command = "start", .summary = "a test."}, {launcher_option("Jobs")})
      .parse(arguments);
}

TEST(JobOptions, TheLauncherIsMpirunOrWhatIsSaidWordByWord) {
  EXPECT_EQ(launcher_words(parse({})), std::vector<std::string>{"mpirun"});
  EXPECT_EQ(launcher_words(parse({"--mpirun", "  srun  --mpi=pmix "})),
            (std::vector<std::string>{"srun", "--mpi=pmix"}));
  EXPECT_THROW(launcher_words(parse({"--mpirun", "  "})), UsageError);
}

TEST(JobOptions, ThereIsACore) { EXPECT_GE(cores_here(), 1U); }

}  // namespace
}  // namespace rubato::app
