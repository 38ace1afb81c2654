#include "app/doctor_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace rubato::app {
namespace {

using testing::HasSubstr;

Diagnosis healthy() {
  return {.thread_level = "funneled",
          .ranks = {{.rank = 0, .host = "a", .cores = {0, 1, 2, 5}, .online_cores = 8},
                    {.rank = 1, .host = "a", .cores = {0, 1, 2, 3}, .online_cores = 4}},
          .placement = {},
          .checks = {{.name = "arithmetic"}, {.name = "sum", .measured = "1 ms"}}};
}

std::string text_of(const Diagnosis& diagnosis) {
  std::ostringstream out;
  print_text(out, diagnosis);
  return out.str();
}

nlohmann::json json_of(const Diagnosis& diagnosis) {
  std::ostringstream out;
  print_json(out, diagnosis);
  return nlohmann::json::parse(out.str());
}

TEST(DoctorReport, OfAHealthyMachine) {
  const auto text = text_of(healthy());
  EXPECT_THAT(text, HasSubstr("rank 0: bound to core 0-2,5\n"));
  EXPECT_THAT(text, HasSubstr("rank 1: free on cores 0-3\n"));
  EXPECT_THAT(text, HasSubstr("all is well\n"));
  EXPECT_EQ(json_of(healthy())["ok"], true);
  EXPECT_EQ(json_of(healthy())["hosts"][0]["ranks"].size(), 2U);
}

TEST(DoctorReport, ANoteBreaksNothing) {
  auto diagnosis = healthy();
  diagnosis.placement.push_back({false, "3 ranks share 2 cores", "start fewer"});
  EXPECT_FALSE(diagnosis.is_broken());
  EXPECT_THAT(text_of(diagnosis),
              HasSubstr("note: 3 ranks share 2 cores\n    to do: start fewer\n"));
}

TEST(DoctorReport, AFailedCheckOrAMisfitBreaksAll) {
  auto failed = healthy();
  failed.checks[1].problem = "a sum is wrong";
  failed.checks[1].remedy = "check the memory";
  EXPECT_TRUE(failed.is_broken());
  EXPECT_THAT(text_of(failed), HasSubstr("broken: a sum is wrong\n    to do: check the memory\n"));
  EXPECT_THAT(text_of(failed), HasSubstr("something is broken"));
  EXPECT_EQ(json_of(failed)["checks"][1]["ok"], false);
  auto misfit = healthy();
  misfit.placement.push_back({true, "different compute kernels", "use the same --isa"});
  EXPECT_TRUE(misfit.is_broken());
  EXPECT_EQ(json_of(misfit)["ok"], false);
}

}  // namespace
}  // namespace rubato::app
