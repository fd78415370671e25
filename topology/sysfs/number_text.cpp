#include "topology/sysfs/number_text.h"

#include <charconv>
#include <cmath>
#include <system_error>

namespace egpurun::topology {
namespace {

template <class Number>
std::optional<Number> parse_whole(std::string_view text, int base) {
  Number number = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number, base);
  if (text.empty() || result.ec != std::errc() || result.ptr != end) {
    return std::nullopt;
  }
  return number;
}

} // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) {
  return parse_whole<std::int64_t>(text, 10);
}

std::optional<std::uint64_t> parse_unsigned(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) {
    return parse_whole<std::uint64_t>(text.substr(2), 16);
  }
  return parse_whole<std::uint64_t>(text, 10);
}

std::optional<double> parse_quantity(
    std::string_view text,
    std::string_view unit) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc() || !std::isfinite(number) || number <= 0) {
    return std::nullopt;
  }
  const std::string_view rest(
      result.ptr, static_cast<std::size_t>(end - result.ptr));
  if (rest.substr(0, 1) != " " || !rest.substr(1).starts_with(unit)) {
    return std::nullopt;
  }
  return number;
}

} // namespace egpurun::topology
