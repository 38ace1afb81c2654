// Scalars are matched by name, and anything else is refused with the owner and the scalar at fault.
#include "optim/named_scalars.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace rubato::optim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(NamedScalars, AreTakenByNameInAnyOrder) {
  EXPECT_THAT(scalar_values("x", {"a", "b", "c"}, {{"c", 3}, {"a", 1}, {"b", 2}}),
              ElementsAre(1, 2, 3));
}

TEST(NamedScalars, AreRefusedWhenTheyDoNotFit) {
  const auto expect_refusal = [](const std::vector<NamedScalar>& scalars, const char* message) {
    EXPECT_THAT(
        [&] {
          scalar_values("adam", {"a", "b"}, scalars);
        },
        ThrowsMessage<std::invalid_argument>(HasSubstr(message)));
  };
  expect_refusal({{"a", 1}}, "state of adam: scalar 'b' is missing");
  expect_refusal({{"a", 1}, {"b", 2}, {"z", 3}}, "state of adam: scalar 'z' is unknown");
  expect_refusal({{"a", 1}, {"b", 2}, {"a", 1}}, "state of adam: scalar 'a' is there twice");
  expect_refusal({{"a", std::nan("")}, {"b", 2}}, "scalar 'a' is not a finite number");
}

TEST(NamedScalars, PrefixGoesOnAndComesOff) {
  const auto prefixed = add_prefix("inner.", {{"a", 1}, {"b", 2}});
  EXPECT_EQ(prefixed[0].name, "inner.a");
  EXPECT_EQ(prefixed[1].name, "inner.b");
  const auto selected = select_prefix("inner.", {{"a", 7}, prefixed[1], {"outer.b", 8}});
  ASSERT_EQ(selected.size(), 1u);
  EXPECT_EQ(selected[0].name, "b");
  EXPECT_EQ(selected[0].value, 2);
}

}  // namespace
}  // namespace rubato::optim
