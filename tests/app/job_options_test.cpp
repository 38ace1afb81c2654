// What launch and prove share of their command lines.
#include "app/job_options.hpp"

#include <gtest/gtest.h>

#include <stdlib.h>

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

TEST(JobOptions, OnlyAnMpirunThatKnowsOfNoHostStaysHere) {
  ::unsetenv("SLURM_JOB_ID");
  EXPECT_TRUE(stays_here({"/usr/bin/mpirun", "--bind-to", "none"}));
  EXPECT_FALSE(stays_here({"srun"}));
  EXPECT_FALSE(stays_here({"mpirun", "--hostfile", "hosts"}));
  ::setenv("SLURM_JOB_ID", "1", 1);
  EXPECT_FALSE(stays_here({"mpirun"}));
  ::unsetenv("SLURM_JOB_ID");
}

std::string refusal(std::uint64_t ranks, const std::vector<std::string>& launcher,
                    std::uint64_t cores) {
  try {
    require_room_for(ranks, "--ranks", launcher, cores);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(JobOptions, SoManyRanksAreNotAskedFor) {
  ::unsetenv("SLURM_JOB_ID");
  EXPECT_EQ(refusal(65537, {"srun"}, 1), "--ranks 65537: expected at most 65536");
  EXPECT_EQ(refusal(65536, {"srun"}, 1), "");
  EXPECT_EQ(refusal(128, {"mpirun"}, 2), "");
  EXPECT_EQ(refusal(129, {"/usr/bin/mpirun.openmpi", "-q"}, 2),
            "--ranks 129: expected at most 128 on this host, which has 2 cores; name more hosts,"
            " as in --mpirun \"mpirun --hostfile FILE\"");
  EXPECT_NE(refusal(65, {"mpiexec"}, 1).find("which has 1 core;"), std::string::npos);
  for (const char* word : {"-H", "--host", "--hostfile", "-machinefile"}) {
    EXPECT_EQ(refusal(129, {"mpirun", word, "x"}, 2), "") << word;
  }
  ::setenv("SLURM_JOB_ID", "1", 1);
  EXPECT_EQ(refusal(129, {"mpirun"}, 2), "") << "Slurm tells it of hosts";
  ::unsetenv("SLURM_JOB_ID");
}

TEST(JobOptions, ThereIsACore) { EXPECT_GE(cores_here(), 1U); }

}  // namespace
}  // namespace rubato::app
