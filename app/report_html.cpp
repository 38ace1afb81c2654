// See report_html.hpp.
#include "app/report_html.hpp"

#include <array>

#include "app/gnuplot.hpp"
#include "app/html_text.hpp"
#include "app/inline_svg.hpp"
#include "app/line_style.hpp"

namespace rubato::app {
namespace {

constexpr std::string_view style = R"(
body { margin: 0; color: #1a1a1a; background: #fff; font: 15px/1.45 system-ui, sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 16px 20px 48px; }
h1 { font-size: 26px; margin: 12px 0 4px; }
h2 { font-size: 21px; margin: 36px 0 6px; border-bottom: 1px solid #999; overflow-wrap: anywhere; }
h3 { font-size: 17px; margin: 26px 0 6px; }
h4 { font-size: 15px; margin: 20px 0 4px; overflow-wrap: anywhere; }
p { margin: 6px 0; max-width: 52em; overflow-wrap: anywhere; }
svg { display: block; width: 100%; height: auto; }
figure { margin: 8px 0; break-inside: avoid; }
figcaption { font-size: 13px; color: #444; }
.large { max-width: 820px; }
.row { display: grid; grid-template-columns: repeat(3, 1fr); gap: 6px 14px; }
.row figcaption { font-weight: 600; color: #1a1a1a; margin: 0 0 2px; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 20px; padding: 0; margin: 4px 0 6px; }
.legend li { list-style: none; display: flex; align-items: center; gap: 7px; }
.legend li { font-size: 13px; overflow-wrap: anywhere; }
.sample { display: inline; width: 36px; flex: none; stroke-width: 2; fill: none; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 14px; margin: 6px 0; }
table { font-variant-numeric: tabular-nums; }
th, td { padding: 2px 14px 2px 0; text-align: right; vertical-align: top; }
th:first-child, td:first-child { text-align: left; }
th { border-bottom: 1px solid #999; font-weight: 600; }
tr.emphasised td { font-weight: 700; }
dl { columns: 3 300px; column-gap: 28px; font-size: 13px; margin: 6px 0; }
dl div { display: grid; grid-template-columns: 11em 1fr; break-inside: avoid; }
dt { color: #555; }
dd { margin: 0; overflow-wrap: anywhere; }
pre { font-size: 12.5px; background: #f5f5f5; padding: 8px 12px; overflow-x: auto; }
@media (max-width: 760px) { .row { grid-template-columns: 1fr; } }
@media print { main { max-width: none; padding: 0; } pre { white-space: pre-wrap; } }
)";

std::string element(std::string_view name, std::string_view text) {
  std::string written = "<";
  written.append(name).append(">").append(html(text)).append("</").append(name).append(">");
  return written;
}

std::string notes_on(const PanelLine& line) {
  const std::string runs = std::to_string(line.runs);
  if (line.is_lost()) return line.runs == 1 ? " (diverged)" : " (all " + runs + " diverged)";
  if (line.diverged == 0) return "";
  return " (" + std::to_string(line.diverged) + " of " + runs + " diverged)";
}

}  // namespace

std::string heading(int level, std::string_view text) {
  constexpr std::array levels{"h1", "h2", "h3", "h4"};
  return element(levels.at(static_cast<std::size_t>(level - 1)), text) + "\n";
}

std::string paragraph(std::string_view text) { return element("p", text) + "\n"; }

std::string table(const std::vector<std::string>& headings, const std::vector<HtmlRow>& rows) {
  std::string text = "<div class=\"wide\"><table>\n<thead><tr>";
  for (const auto& one : headings) text += "<th scope=\"col\">" + html(one) + "</th>";
  text += "</tr></thead>\n<tbody>\n";
  for (const auto& row : rows) {
    text += row.is_emphasised ? "<tr class=\"emphasised\">" : "<tr>";
    for (const auto& cell : row.cells) text += element("td", cell);
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

std::string fact_list(const std::vector<RunFact>& facts) {
  std::string text = "<dl>\n";
  for (const auto& fact : facts) {
    text += "<div>";
    text += element("dt", fact.name) + element("dd", fact.value);
    text += "</div>\n";
  }
  return text + "</dl>\n";
}

std::string text_block(std::string_view text) {
  return "<pre>" + html(text, /*keeps_lines=*/true) + "</pre>\n";
}

std::string legend(const std::vector<PanelLine>& lines) {
  std::string text = "<ul class=\"legend\">\n";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text +=
        "<li>" + line_sample(line_style(i)) + html(lines[i].label + notes_on(lines[i])) + "</li>\n";
  }
  return text + "</ul>\n";
}

std::string FigureWriter::write(const Figure& figure, std::string_view caption) {
  if (!has_points(figure)) return {};
  const std::string prefix = std::string("f").append(std::to_string(++count_)).append("-");
  const std::string picture =
      inline_svg(gnuplot_output(gnuplot_script(figure)), prefix, std::string(caption));
  const std::string text = element("figcaption", caption) + "\n";
  if (figure.form == FigureForm::panel) return "<figure>" + text + picture + "</figure>\n";
  return "<figure class=\"large\">" + picture + text + "</figure>\n";
}

std::string html_page(std::string_view title, const std::string& body) {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n" +
         element("title", title) + "\n<style>" + std::string(style) +
         "</style>\n</head>\n<body>\n"
         "<main>\n" +
         body + "</main>\n</body>\n</html>\n";
}

}  // namespace rubato::app
