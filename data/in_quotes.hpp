// Text from a file made safe to show in a message: in quotes, control characters escaped, long text
// cut.
#pragma once

#include <string>
#include <string_view>

namespace rubato::data {

// "64.5", "a\tb", "\x07", "0123456789...": never longer than `limit` characters of the text. Bytes
// beyond ASCII are escaped too, for a byte of a binary file is no letter.
std::string in_quotes(std::string_view text, std::size_t limit = 40);

}  // namespace rubato::data
