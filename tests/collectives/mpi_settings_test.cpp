// Environments as launchers make them; and what MPI has read in this program's own.
#include "collectives/mpi_settings.hpp"

#include <gtest/gtest.h>
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <map>
#include <optional>
#include <string>

namespace rubato::collectives {
namespace {

using Environment = std::map<std::string, std::string>;

constexpr std::array read_or_set{"OMPI_COMM_WORLD_SIZE",
                                 "OMPI_COMM_WORLD_LOCAL_SIZE",
                                 "SLURM_STEP_NUM_NODES",
                                 "SLURM_TASKS_PER_NODE",
                                 "PMIX_RANK",
                                 "OMPI_MCA_mpi_yield_when_idle",
                                 "OMPI_MCA_pml"};

std::optional<std::string> value_of(const char* variable) {
  const char* const text = ::getenv(variable);
  return text == nullptr ? std::nullopt : std::optional<std::string>(text);
}

void set(const char* variable, const std::optional<std::string>& value) {
  value ? ::setenv(variable, value->c_str(), 1) : ::unsetenv(variable);
}

// The settings after choose_mpi_settings() where of all these variables only the given ones are.
Environment settings_in(const Environment& given) {
  std::map<const char*, std::optional<std::string>> before;
  for (const char* variable : read_or_set) {
    before[variable] = value_of(variable);
    const auto found = given.find(variable);
    set(variable, found == given.end() ? std::nullopt : std::optional(found->second));
  }
  choose_mpi_settings();
  Environment after;
  for (const auto& [variable, value] : before) {
    const auto chosen = value_of(variable);
    if (chosen && std::string(variable).starts_with("OMPI_MCA_")) after[variable] = *chosen;
    set(variable, value);
  }
  return after;
}

const std::string too_many = std::to_string(sysconf(_SC_NPROCESSORS_ONLN) + 1);
const Environment::value_type yields{"OMPI_MCA_mpi_yield_when_idle", "1"};
const Environment::value_type shares_memory{"OMPI_MCA_pml", "ob1"};

TEST(MpiSettings, YieldWhereRanksOutnumberCores) {
  EXPECT_EQ(
      settings_in({{"OMPI_COMM_WORLD_SIZE", "1000"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", too_many}}),
      Environment{yields});
  EXPECT_EQ(
      settings_in({{"SLURM_STEP_NUM_NODES", "2"}, {"SLURM_TASKS_PER_NODE", too_many + "(x2)"}}),
      Environment{yields});
}

TEST(MpiSettings, LookForNoNetworkWhereAllRanksShareTheHost) {
  EXPECT_EQ(settings_in({{"OMPI_COMM_WORLD_SIZE", "1"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}}),
            Environment{shares_memory});
  EXPECT_EQ(settings_in({{"SLURM_STEP_NUM_NODES", "1"}, {"PMIX_RANK", "0"}}),
            Environment{shares_memory});
  EXPECT_EQ(settings_in({}), Environment{shares_memory}) << "a process alone";
}

TEST(MpiSettings, LookForNetworksWhereHostsAreSeveralOrUnknown) {
  EXPECT_EQ(settings_in({{"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}}),
            Environment{});
  EXPECT_EQ(settings_in({{"SLURM_STEP_NUM_NODES", "2"}, {"PMIX_RANK", "0"}}), Environment{});
  EXPECT_EQ(settings_in({{"PMIX_RANK", "0"}}), Environment{}) << "a launcher that is not known";
}

TEST(MpiSettings, LeaveWhatTheUserHasSet) {
  const Environment users{{"OMPI_MCA_mpi_yield_when_idle", "0"}, {"OMPI_MCA_pml", "ucx"}};
  Environment given = users;
  given.insert({{"OMPI_COMM_WORLD_SIZE", too_many}, {"OMPI_COMM_WORLD_LOCAL_SIZE", too_many}});
  EXPECT_EQ(settings_in(given), users);
}

std::string value_that_mpi_uses(const char* name) {
  int granted = 0;
  // The level of the session: in Open MPI 4.1 this sets that of the whole process anew.
  MPI_T_init_thread(MPI_THREAD_FUNNELED, &granted);
  int index = 0;
  int length = 0;
  MPI_T_cvar_handle handle{};
  if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS ||
      MPI_T_cvar_handle_alloc(index, nullptr, &handle, &length) != MPI_SUCCESS) {
    MPI_T_finalize();
    return "no such setting";
  }
  std::string value(static_cast<std::size_t>(length), '\0');
  MPI_T_cvar_read(handle, value.data());
  MPI_T_cvar_handle_free(&handle);
  MPI_T_finalize();
  return value.c_str();
}

TEST(MpiSettings, AreChosenBeforeMpiReadsThem) {
  ASSERT_TRUE(value_of("OMPI_MCA_pml")) << "this program's ranks share the host";
  EXPECT_EQ(value_that_mpi_uses("pml"), *value_of("OMPI_MCA_pml"));
}

}  // namespace
}  // namespace rubato::collectives
