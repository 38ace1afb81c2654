// Text for an HTML page or an SVG picture: what comes from files and names of files does nothing
// there.
#pragma once

#include <string>
#include <string_view>

namespace rubato::app {

// In one line: control characters become blanks, bytes that are no UTF-8 become U+FFFD.
std::string readable(std::string_view text);

// The same with < > & " ' written as references, so that it stands in elements and in attributes.
// With `keeps_lines`, line breaks and tabs stay.
std::string html(std::string_view text, bool keeps_lines = false);

}  // namespace rubato::app
