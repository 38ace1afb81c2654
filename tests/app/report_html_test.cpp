// Pictures are left to command_report_test.py.
#include "app/report_html.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rubato::app {
namespace {

using testing::HasSubstr;

TEST(ReportHtml, EscapesAllText) {
  EXPECT_EQ(heading(2, "<a>"), "<h2>&lt;a&gt;</h2>\n");
  EXPECT_EQ(paragraph("a & b"), "<p>a &amp; b</p>\n");
  EXPECT_EQ(text_block("<\n>"), "<pre>&lt;\n&gt;</pre>\n");
  EXPECT_EQ(fact_list({{"<n>", "<v>"}}),
            "<dl>\n<div><dt>&lt;n&gt;</dt><dd>&lt;v&gt;</dd></div>\n</dl>\n");
  EXPECT_THAT(html_page("<t>", "<p>body</p>"), HasSubstr("<title>&lt;t&gt;</title>"));
  EXPECT_THAT(html_page("t", "<p>body</p>"), HasSubstr("<html lang=\"en\">"));
  EXPECT_THAT(html_page("t", "<p>body</p>"), HasSubstr("<main>\n<p>body</p></main>"));
}

TEST(ReportHtml, HasTables) {
  EXPECT_EQ(table({"<h>", "x"}, {{{"<c>", "1"}}, {{"d", "2"}, true}}),
            "<div class=\"wide\"><table>\n"
            "<thead><tr><th scope=\"col\">&lt;h&gt;</th><th scope=\"col\">x</th></tr></thead>\n"
            "<tbody>\n"
            "<tr><td>&lt;c&gt;</td><td>1</td></tr>\n"
            "<tr class=\"emphasised\"><td>d</td><td>2</td></tr>\n"
            "</tbody></table></div>\n");
}

TEST(ReportHtml, SaysInTheLegendWhatDiverged) {
  const auto text = legend({{.label = "<a>", .curve = {}, .runs = 3, .diverged = 0},
                            {.label = "b", .curve = {}, .runs = 3, .diverged = 2},
                            {.label = "c", .curve = {}, .runs = 3, .diverged = 3},
                            {.label = "d", .curve = {}, .runs = 1, .diverged = 1}});
  EXPECT_THAT(text, HasSubstr("</svg>&lt;a&gt;</li>"));
  EXPECT_THAT(text, HasSubstr("</svg>b (2 of 3 diverged)</li>"));
  EXPECT_THAT(text, HasSubstr("</svg>c (all 3 diverged)</li>"));
  EXPECT_THAT(text, HasSubstr("</svg>d (diverged)</li>"));
}

TEST(ReportHtml, DrawsNothingWhereThereIsNothing) {
  FigureWriter writer;
  EXPECT_EQ(writer.write({}, "caption"), "");
}

}  // namespace
}  // namespace rubato::app
