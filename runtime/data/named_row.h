#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "topology/error.h"

namespace egpurun::runtime {

// Error for a `key` (such as "model.name") of the job file whose value names
// no row of a table; lists the rows and suggests the nearest.
Error unknown_row_error(
    std::string_view key,
    std::string_view name,
    const std::vector<std::string_view>& known);

// The row of `rows` called `name`; throws kBadInput if there is none.
// Row: any struct with a member `name` that converts to string_view.
template <class Row>
const Row& row_named(
    std::span<const Row> rows,
    std::string_view key,
    std::string_view name) {
  std::vector<std::string_view> known;
  for (const Row& row : rows) {
    if (row.name == name) {
      return row;
    }
    known.push_back(row.name);
  }
  throw unknown_row_error(key, name, known);
}

} // namespace egpurun::runtime
