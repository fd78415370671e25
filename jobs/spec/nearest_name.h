#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace egpurun::jobs {

// Levenshtein distance: insertions, deletions and substitutions of one byte.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate with the fewest edits from `name`, the first of equals; none if
// more than half of `name` would have to change (then it is no typing error).
std::optional<std::string> nearest_name(
    std::string_view name,
    const std::vector<std::string_view>& candidates);

} // namespace egpurun::jobs
