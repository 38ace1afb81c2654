// A text of any length among a checkpoint's entries, each of which is an attribute of a file and so
// has less than 64 KiB: "decisions", "decisions 2", "decisions 3", ...
#pragma once

#include <string>
#include <vector>

#include "runtime/checkpoint.hpp"

namespace rubato::runtime {

// Appends the text, in pieces of at most 16 KiB; nothing of an empty one.
void append_in_pieces(const std::string& name, const std::string& text,
                      std::vector<ContextEntry>& entries);

// The way back; empty where there is none of that name. A piece of any length counts.
std::string joined_pieces(const std::vector<ContextEntry>& entries, const std::string& name);

}  // namespace rubato::runtime
