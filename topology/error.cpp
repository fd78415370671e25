#include "topology/error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <system_error>
#include <utility>
#include <vector>

namespace egpurun::topology {

Error::Error(
    ErrorKind kind,
    std::string asked,
    std::string found,
    std::string advice,
    ErrorPlace place)
    : std::runtime_error(fmt::format("{}: {}; {}", asked, found, advice)),
      kind_(kind),
      asked_(std::move(asked)),
      found_(std::move(found)),
      advice_(std::move(advice)),
      place_(std::move(place)) {}

std::string format_place(const ErrorPlace& place) {
  std::vector<std::string> parts;
  if (!place.host.empty()) {
    parts.push_back("host " + place.host);
  }
  if (place.rank) {
    parts.push_back(fmt::format("rank {}", *place.rank));
  }
  if (!place.path.empty()) {
    std::string where = place.path;
    if (place.line > 0) {
      where += fmt::format(":{}", place.line);
      if (place.column > 0) {
        where += fmt::format(":{}", place.column);
      }
    }
    parts.push_back(where);
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string format_error(const std::string& program, const Error& error) {
  const std::string place = format_place(error.place());
  return fmt::format(
      "{}: {}{}\n  found: {}\n  to do: {}\n",
      program,
      error.asked(),
      place.empty() ? "" : " (" + place + ")",
      error.found(),
      error.advice());
}

std::string errno_text(int errno_value) {
  return std::system_category().message(errno_value);
}

} // namespace egpurun::topology
