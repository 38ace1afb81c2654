#include "app/html_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace rubato::app {
namespace {

TEST(HtmlText, DoesNothingInAPage) {
  EXPECT_EQ(html("<b class=\"x\">&'"), "&lt;b class=&quot;x&quot;&gt;&amp;&#39;");
  EXPECT_EQ(html("plain, \xC2\xB5 \xE2\x82\xAC \xF0\x9F\x98\x80"),
            "plain, \xC2\xB5 \xE2\x82\xAC \xF0\x9F\x98\x80");
}

TEST(HtmlText, IsInOneLineUnlessItsLinesAreKept) {
  const std::string text("a\nb\tc\x1B[1md\0e\x7F", 13);
  EXPECT_EQ(html(text), "a b c [1md e ");
  EXPECT_EQ(html(text, /*keeps_lines=*/true), "a\nb\tc [1md e ");
}

TEST(HtmlText, IsUtf8WhateverItWas) {
  const std::string unknown = "\uFFFD";
  EXPECT_EQ(readable("a\xFFz"), "a" + unknown + "z");
  EXPECT_EQ(readable("a\x80z"), "a" + unknown + "z") << "in the middle of a character";
  EXPECT_EQ(readable("\xE2\x82"), unknown + unknown) << "cut off";
  EXPECT_EQ(readable("\xC0\xAF"), unknown + unknown) << "a slash in two bytes";
  EXPECT_EQ(readable("\xE0\x80\xAF"), unknown + unknown + unknown) << "and in three";
  EXPECT_EQ(readable("\xED\xA0\x80"), unknown + unknown + unknown) << "a surrogate";
  EXPECT_EQ(readable("\xF4\x90\x80\x80"), unknown + unknown + unknown + unknown) << "too large";
  EXPECT_EQ(readable("\xF4\x8F\xBF\xBF"), "\xF4\x8F\xBF\xBF") << "the last";
}

}  // namespace
}  // namespace rubato::app
