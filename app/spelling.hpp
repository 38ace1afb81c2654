// "Did you mean ...?": the valid name nearest to a misspelt one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace rubato::app {

// Edits that turn one word into the other: insert, delete, replace a letter, or swap two
// neighbours, none of them touched twice (Damerau 1964, doi:10.1145/363958.363994, in the
// restricted form).
std::size_t edit_distance(std::string_view from, std::string_view to);

// The candidate with the fewest edits, the first of equals; none if even that one takes more than a
// third of the word.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

// Throws UsageError 'unknown OPTION "VALUE": did you mean "NEAREST"? (valid: ...)' unless `value`
// is one of `candidates`.
void require_choice(std::string_view option, std::string_view value,
                    std::span<const std::string> candidates);

// What is checked of a specification: "mlp" of "mlp:512,512", "mnist" of "mnist".
std::string kind_of(const std::string& specification);

}  // namespace rubato::app
