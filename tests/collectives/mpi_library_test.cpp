#include "collectives/mpi_library.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <string>

namespace rubato::collectives {
namespace {

TEST(MpiLibrary, IsNamedWithItsVersionAndNoMore) {
  const std::string name = mpi_library().name;
#ifdef OMPI_MAJOR_VERSION
  EXPECT_EQ(name, "Open MPI v" + std::to_string(OMPI_MAJOR_VERSION) + "." +
                      std::to_string(OMPI_MINOR_VERSION) + "." +
                      std::to_string(OMPI_RELEASE_VERSION));
#endif
  EXPECT_EQ(name.find_first_of(",\n"), std::string::npos);
}

TEST(MpiLibrary, SaysTheThreadLevelThatWasGranted) {
  int level = MPI_THREAD_SINGLE;
  ASSERT_EQ(MPI_Query_thread(&level), MPI_SUCCESS);
  ASSERT_GE(level, MPI_THREAD_FUNNELED);  // a session asks for it
  const std::string name = mpi_library().thread_level;
  EXPECT_EQ(name == "funneled", level == MPI_THREAD_FUNNELED);
  EXPECT_EQ(name == "multiple", level == MPI_THREAD_MULTIPLE);
  EXPECT_NE(name, "single");
}

}  // namespace
}  // namespace rubato::collectives
