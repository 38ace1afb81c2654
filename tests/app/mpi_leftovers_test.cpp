// In folders made for the test; what a real mpirun leaves is in mpi_job_test.cpp.
#include "app/mpi_leftovers.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "tests/temporary_directory.hpp"

namespace rubato::app {
namespace {

namespace fs = std::filesystem;

class MpiLeftovers : public testing::Test {
 protected:
  MpiLeftovers() { fs::create_directories(root_ / "shm"); }

  void put(const fs::path& file, const std::string& text = "") {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  std::set<std::string> names(const fs::path& folder) const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(root_ / folder)) {
      names.insert(entry.path().filename().string());
    }
    return names;
  }
  MpiFolders folders() const { return {.temporary = root_, .shared_memory = root_ / "shm"}; }
  MpiSession session_of(pid_t mpirun) const { return find_mpi_session(mpirun, folders()).value(); }

  const TemporaryDirectory own_;
  const fs::path& root_ = own_.path();
};

TEST_F(MpiLeftovers, OfOneJobAreRemovedAndThoseOfOthersStay) {
  // 1482031104 is 0x58560000.
  put("ompi.host.0/pid.77/contact.txt", "1482031104.0;tcp://192.0.2.2:42521\n");
  put("ompi.host.0/pid.77/1/0/deep");
  put("ompi.host.0/pid.778/contact.txt", "1480982528.0;tcp://192.0.2.2:42522\n");
  put("shm/vader_segment.host.0.58560001.0");
  put("shm/vader_segment.host.0.58560001.1");
  put("shm/vader_segment.host.0.58460001.0");
  put("shm/somebody.else.58560001.0");
  remove_mpi_leftovers(session_of(77), folders());
  EXPECT_EQ(names("ompi.host.0"), std::set<std::string>{"pid.778"});
  EXPECT_EQ(names("shm"),
            (std::set<std::string>{"vader_segment.host.0.58460001.0", "somebody.else.58560001.0"}));
}

TEST_F(MpiLeftovers, WithoutAContactTakeNoSharedMemoryAlong) {
  put("ompi.host.0/pid.77/something");
  put("shm/vader_segment.host.0.58560001.0");
  const auto session = session_of(77);
  remove_mpi_leftovers(session, folders());
  EXPECT_TRUE(names("ompi.host.0").empty());
  EXPECT_EQ(names("shm").size(), 1U);
  remove_mpi_leftovers(session, folders());  // nothing there: nothing happens
  EXPECT_FALSE(find_mpi_session(77, folders()));
}

TEST_F(MpiLeftovers, AreKnownAlsoOfAnMpirunKilledWhileItCleansUp) {
  put("ompi.host.0/pid.77/contact.txt", "1482031104.0;tcp://192.0.2.2:42521\n");
  put("shm/vader_segment.host.0.58560001.0");
  const auto session = session_of(77);
  fs::remove_all(root_ / "ompi.host.0" / "pid.77");
  remove_mpi_leftovers(session, folders());
  EXPECT_TRUE(names("shm").empty());
}

TEST(SharedByFamily, ReadsTheJobAsMpiAndWeWriteIt) {
  EXPECT_TRUE(is_shared_by_family("vader_segment.a.b.c.1000.abc0001.12", 0xabc));
  EXPECT_TRUE(is_shared_by_family("rubato.1482031105.a1B2c3", 0x5856));
  EXPECT_FALSE(is_shared_by_family("rubato.1482031105.a1B2c3", 0x5857));
  EXPECT_FALSE(is_shared_by_family("rubato.58560001.a1B2c3", 0x5856));
  EXPECT_FALSE(is_shared_by_family("rubato.alone.a1B2c3", 0x5856));
  EXPECT_FALSE(is_shared_by_family("vader_segment.host.0.58560001.0", 0x5857));
  EXPECT_FALSE(is_shared_by_family("vader_segment.host.0.58560001x.0", 0x5856));
  EXPECT_FALSE(is_shared_by_family("sem.mp-58560001", 0x5856));
}

}  // namespace
}  // namespace rubato::app
