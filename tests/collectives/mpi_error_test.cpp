#include "collectives/mpi_error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include "collectives/communicator.hpp"

namespace rubato::collectives {
namespace {

using testing::HasSubstr;

TEST(MpiError, SuccessThrowsNothing) { EXPECT_NO_THROW(check_mpi(MPI_SUCCESS, "MPI_Barrier")); }

TEST(MpiError, NamesCallClassTextAndRank) {
  const Communicator world = Communicator::world();
  try {
    check_mpi(MPI_ERR_COUNT, "MPI_Send");
    FAIL() << "nothing was thrown";
  } catch (const MpiError& error) {
    EXPECT_EQ(error.call(), "MPI_Send");
    EXPECT_EQ(error.error_class(), MPI_ERR_COUNT);
    EXPECT_EQ(error.rank(), static_cast<int>(world.rank()));
    EXPECT_THAT(error.what(), HasSubstr("MPI_Send failed on rank " + std::to_string(world.rank())));
    EXPECT_THAT(error.what(), HasSubstr("MPI_ERR_COUNT"));
  }
}

}  // namespace
}  // namespace rubato::collectives
