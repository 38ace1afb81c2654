// Only tags are looked into: text between them, which may say anything, holds no '<'.
#include "app/inline_svg.hpp"

#include <array>
#include <string_view>

#include "app/html_text.hpp"

namespace rubato::app {
namespace {

constexpr std::array references{" id='", " id=\"", "href='#", "href=\"#", "url(#"};

void remove_elements(std::string& svg, std::string_view name) {
  const std::string begin = std::string("<").append(name).append(">");
  const std::string end = std::string("</").append(name).append(">");
  for (auto at = svg.find(begin); at != std::string::npos; at = svg.find(begin, at)) {
    svg.erase(at, svg.find(end, at) + end.size() - at);
  }
}

std::string with_prefix(std::string tag, const std::string& prefix) {
  for (const std::string_view reference : references) {
    for (auto at = tag.find(reference); at != std::string::npos; at = tag.find(reference, at + 1)) {
      tag.insert(at + reference.size(), prefix);
    }
  }
  return tag;
}

}  // namespace

std::string inline_svg(const std::string& document, const std::string& prefix,
                       const std::string& description) {
  const auto begin = document.find("<svg");
  if (begin == std::string::npos) return {};
  std::string svg = document.substr(begin);
  remove_elements(svg, "title");
  remove_elements(svg, "desc");
  std::string text = "<svg role=\"img\" aria-label=\"";
  text += html(description);
  text += '"';
  for (std::size_t at = std::string_view("<svg").size(); at < svg.size();) {
    const auto tag = svg.find('<', at);
    const auto end = svg.find('>', tag);
    text += svg.substr(at, tag - at);
    if (tag == std::string::npos || end == std::string::npos) break;
    text += with_prefix(svg.substr(tag, end + 1 - tag), prefix);
    at = end + 1;
  }
  return text;
}

}  // namespace rubato::app
