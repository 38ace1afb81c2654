#include "app/inline_svg.hpp"

#include <gtest/gtest.h>

namespace rubato::app {
namespace {

TEST(InlineSvg, IsTheElementWithIdsOfItsOwn) {
  EXPECT_EQ(inline_svg("<?xml version=\"1.0\"?>\n<!DOCTYPE svg>\n<svg viewBox=\"0 0 1 1\">\n"
                       "<title>x</title><desc>y</desc>"
                       "<path id='p'/><g id=\"g\"><title>g</title>"
                       "<use xlink:href='#p' id='q'/><use href=\"#p\" fill=\"url(#g)\"/></g>"
                       "<text> id='p' href='#p' > url(#g)</text></svg>\n",
                       "f1-", "a <plot>"),
            "<svg role=\"img\" aria-label=\"a &lt;plot&gt;\" viewBox=\"0 0 1 1\">\n"
            "<path id='f1-p'/><g id=\"f1-g\">"
            "<use xlink:href='#f1-p' id='f1-q'/><use href=\"#f1-p\" fill=\"url(#f1-g)\"/></g>"
            "<text> id='p' href='#p' > url(#g)</text></svg>\n");
}

TEST(InlineSvg, IsNothingWhereNothingWasDrawn) { EXPECT_EQ(inline_svg("", "f1-", "x"), ""); }

}  // namespace
}  // namespace rubato::app
