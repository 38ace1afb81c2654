#include "collectives/agreement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/host_name.hpp"

namespace rubato::collectives {
namespace {

using testing::HasSubstr;

// Exit code 60 + rank, so that it shows whose failure won.
Failure explain(const Communicator& world, const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& known) {
    return {60 + static_cast<int>(world.rank()), known.what()};
  }
}

// The failure on which all ranks agree when the ranks for which `fails` holds throw `message`.
Failure agreed_failure(const Communicator& world, bool fails, const std::string& message) {
  try {
    agree(
        world,
        [&] {
          if (fails) {
            throw std::runtime_error(message);
          }
        },
        [&](const std::exception_ptr& error) { return explain(world, error); });
  } catch (const AgreedFailure& agreed) {
    EXPECT_EQ(agreed.what(), agreed.failure().message);
    return agreed.failure();
  }
  return {0, "nothing was thrown"};
}

TEST(Agree, WithoutAFailureAllGoOn) {
  const Communicator world = Communicator::world();
  EXPECT_EQ(agreed_failure(world, false, "").message, "nothing was thrown");
}

TEST(Agree, OneRanksFailureIsEverybodysAndNamesTheRank) {
  const Communicator world = Communicator::world();
  for (std::size_t failing = 0; failing < world.size() && world.size() > 1; ++failing) {
    const Failure failure = agreed_failure(world, world.rank() == failing, "no such file");
    EXPECT_EQ(failure.exit_code, 60 + static_cast<int>(failing));
    EXPECT_EQ(failure.message,
              "rank " + std::to_string(failing) + " on " + host_name() + ": no such file");
  }
}

TEST(Agree, TheLowestFailingRankWins) {
  const Communicator world = Communicator::world();
  const std::string message = "broken by " + std::to_string(world.rank());
  const Failure failure = agreed_failure(world, world.rank() > 0, message);
  if (world.size() == 1) {
    EXPECT_EQ(failure.message, "nothing was thrown");
  } else {
    EXPECT_EQ(failure.exit_code, 61);
    EXPECT_THAT(failure.message, HasSubstr("broken by 1"));
  }
}

TEST(Agree, AFailureThatIsTheSameOnAllRanksNamesNone) {
  const Communicator world = Communicator::world();
  const Failure failure = agreed_failure(world, true, "the trace is empty");
  EXPECT_EQ(failure.message, "the trace is empty");
  EXPECT_EQ(failure.exit_code, 60);
}

std::string disagreement(const Communicator& world, const std::vector<NamedValue>& values) {
  try {
    require_same(world, values);
    return {};
  } catch (const AgreedFailure& agreed) {
    EXPECT_EQ(agreed.failure().exit_code, 71);
    return agreed.what();
  }
}

TEST(RequireSame, EqualValuesPass) {
  const Communicator world = Communicator::world();
  EXPECT_EQ(disagreement(world, {{"layout", "1:23"}, {"isa", ""}, {"", "x"}}), "");
  EXPECT_EQ(disagreement(world, {}), "");
}

TEST(RequireSame, NamesTheFirstDifferenceBothValuesAndTheirRanks) {
  const Communicator world = Communicator::world();
  const bool is_last = world.rank() + 1 == world.size();
  const std::string message = disagreement(
      world,
      {{"layout", "abc"}, {"isa", is_last ? "avx2" : "avx512"}, {"seed", is_last ? "1" : "2"}});
  if (world.size() == 1) {
    EXPECT_EQ(message, "");
    return;
  }
  const std::string last = std::to_string(world.size() - 1);
  const std::string others =
      world.size() == 2 ? "rank 0 has" : "ranks 0-" + std::to_string(world.size() - 2) + " have";
  EXPECT_EQ(message, "isa differs between ranks, but must be the same on all: rank " + last +
                         " has 'avx2'; " + others + " 'avx512'");
}

TEST(RequireSame, AMissingValueIsADifference) {
  const Communicator world = Communicator::world();
  std::vector<NamedValue> values{{"layout", "abc"}};
  if (world.rank() == 0) {
    values.push_back({"backend", "eigen"});
  }
  const std::string message = disagreement(world, values);
  if (world.size() == 1) {
    EXPECT_EQ(message, "");
  } else {
    EXPECT_THAT(message, HasSubstr("rank 0 has 'eigen'"));
    EXPECT_THAT(message, HasSubstr("no value"));
  }
}

}  // namespace
}  // namespace rubato::collectives
