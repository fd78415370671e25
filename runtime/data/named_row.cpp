#include "runtime/data/named_row.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "jobs/spec/nearest_name.h"

namespace egpurun::runtime {

Error unknown_row_error(
    std::string_view key,
    std::string_view name,
    const std::vector<std::string_view>& known) {
  const auto nearest = jobs::nearest_name(name, known);
  return Error(
      ErrorKind::kBadInput,
      fmt::format("cannot use {} = \"{}\"", key, name),
      fmt::format("known are: {}", fmt::join(known, ", ")),
      nearest ? fmt::format("did you mean \"{}\"?", *nearest)
              : "write one of these names");
}

} // namespace egpurun::runtime
