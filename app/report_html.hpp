// The parts of a report's page as HTML. All text that is handed in is plain: it is escaped here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/figure.hpp"
#include "app/report_panels.hpp"
#include "app/run_curve.hpp"

namespace rubato::app {

std::string heading(int level, std::string_view text);

std::string paragraph(std::string_view text);

// The first cell of a row stands to the left. `emphasised` rows are printed bold.
struct HtmlRow {
  std::vector<std::string> cells;
  bool is_emphasised = false;
};
std::string table(const std::vector<std::string>& headings, const std::vector<HtmlRow>& rows);

// Names and values, in two columns.
std::string fact_list(const std::vector<RunFact>& facts);

// As it stands, line by line.
std::string text_block(std::string_view text);

// What the lines of a panel look like, and how many runs each is the mean of.
std::string legend(const std::vector<PanelLine>& lines);

// Draws figures; each has ids of its own in the page.
class FigureWriter {
 public:
  // Empty for a figure without points. Throws GnuplotError.
  std::string write(const Figure& figure, std::string_view caption);

 private:
  int count_ = 0;
};

// The whole page; `body` is HTML.
std::string html_page(std::string_view title, const std::string& body);

}  // namespace rubato::app
