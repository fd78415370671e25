#include "jobs/spec/nearest_name.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace egpurun::jobs {

// `row[j]` is the distance of the bytes of `a` read so far to b[0, j).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, substituted});
    }
  }
  return row.back();
}

std::optional<std::string> nearest_name(
    std::string_view name,
    const std::vector<std::string_view>& candidates) {
  // Longer than any name of ours: not worth a quadratic search.
  constexpr std::size_t kLongestName = 64;
  if (name.size() > kLongestName) {
    return std::nullopt;
  }
  std::optional<std::string> nearest;
  std::size_t fewest = std::max<std::size_t>(2, name.size() / 2) + 1;
  for (const std::string_view candidate : candidates) {
    const std::size_t edits = edit_distance(name, candidate);
    if (edits < fewest) {
      fewest = edits;
      nearest = std::string(candidate);
    }
  }
  return nearest;
}

} // namespace egpurun::jobs
