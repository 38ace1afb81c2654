// gnuplot's SVG document made a part of an HTML page.
#pragma once

#include <string>

namespace rubato::app {

// The <svg> element alone: without the head of a document, without titles (which browsers show for
// whatever is pointed at), its ids and the references to them begun with `prefix`, so that several
// can stand in a page; said to be a picture of `description` (plain text).
std::string inline_svg(const std::string& document, const std::string& prefix,
                       const std::string& description);

}  // namespace rubato::app
