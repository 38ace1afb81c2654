// What a session grants while it lives. How one ends, and with which code, is seen from outside:
// session_exit.cmake runs session_exit_probe under mpirun.
#include "collectives/session.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <type_traits>

namespace rubato::collectives {
namespace {

static_assert(!std::is_copy_constructible_v<Session>);
static_assert(!std::is_copy_assignable_v<Session>);

TEST(Session, WithinAnotherLeavesMpiAlone) {
  int argc = 0;
  char** argv = nullptr;
  {
    const Session inner(argc, argv);  // the test program has a session already
    EXPECT_NE(inner.thread_level(), "single");
  }
  EXPECT_TRUE(Session::is_open());
  int is_finalized = 1;
  MPI_Finalized(&is_finalized);
  EXPECT_EQ(is_finalized, 0);
}

}  // namespace
}  // namespace rubato::collectives
