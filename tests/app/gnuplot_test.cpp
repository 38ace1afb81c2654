// Of what is not drawn; command_report_test.py draws.
#include "app/gnuplot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "tests/temporary_directory.hpp"

namespace rubato::app {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

// A program that is called gnuplot, and nothing else on the PATH but what it needs.
class Gnuplot : public testing::Test {
 protected:
  void SetUp() override { path_ = ::getenv("PATH"); }
  void TearDown() override { ::setenv("PATH", path_.c_str(), 1); }

  void install(const std::string& script) {
    const auto file = directory.write("gnuplot", "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    ::setenv("PATH", (directory.path().string() + ":" + path_).c_str(), 1);
  }

  TemporaryDirectory directory;
  std::string path_;
};

TEST_F(Gnuplot, GetsTheScriptAndAnswersOnStandardOutput) {
  install("echo \"$@ $LC_ALL${GNUTERM-}\"; cat");
  ::setenv("GNUTERM", "png", 1);
  EXPECT_EQ(gnuplot_output("plot 1\n"), "--default-settings C\nplot 1\n");
  ::unsetenv("GNUTERM");
  const std::string much(1 << 20, 'x');
  EXPECT_EQ(gnuplot_output(much).size(), much.size() + 21) << "nothing waits for anything";
}

TEST_F(Gnuplot, MayBeMissing) {
  ::setenv("PATH", directory.path().c_str(), 1);
  EXPECT_THAT([] { gnuplot_output("plot 1\n"); },
              ThrowsMessage<GnuplotError>(
                  HasSubstr("is not installed: install the Debian package gnuplot-nox")));
}

TEST_F(Gnuplot, SaysWhyItFailed) {
  install("echo >&2; echo 'line 0: no such thing' >&2; exit 1");
  EXPECT_THAT([] { gnuplot_output("plot 1\n"); },
              ThrowsMessage<GnuplotError>(
                  "gnuplot has not drawn a plot of the report: line 0: no such thing"));
  install("kill -9 $$");
  EXPECT_THAT([] { gnuplot_output("plot 1\n"); },
              ThrowsMessage<GnuplotError>(HasSubstr("report: it says nothing")));
}

}  // namespace
}  // namespace rubato::app
