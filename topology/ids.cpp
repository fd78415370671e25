#include "topology/ids.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>

namespace egpurun::topology {
namespace {

// The whole of `text` as a hexadecimal number of at most `max_digits` digits.
std::optional<std::uint64_t> parse_hex(
    std::string_view text,
    std::size_t max_digits) {
  std::uint64_t number = 0;
  if (text.empty() || text.size() > max_digits) {
    return std::nullopt;
  }
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

bool is_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
      (c >= 'A' && c <= 'Z');
}

} // namespace

std::optional<PciAddress> PciAddress::parse(std::string_view text) {
  const auto colon = text.find(':');
  // After the domain: ":BB:SS.F"
  if (colon == std::string_view::npos || colon < 4 ||
      text.size() != colon + 8 || text[colon + 3] != ':' ||
      text[colon + 6] != '.') {
    return std::nullopt;
  }
  const auto pci_domain = parse_hex(text.substr(0, colon), 8);
  const auto bus = parse_hex(text.substr(colon + 1, 2), 2);
  const auto slot = parse_hex(text.substr(colon + 4, 2), 2);
  const auto function = parse_hex(text.substr(colon + 7, 1), 1);
  if (!pci_domain || !bus || !slot || !function || *slot > 31 ||
      *function > 7) {
    return std::nullopt;
  }
  return PciAddress{
      static_cast<std::uint32_t>(*pci_domain),
      static_cast<std::uint8_t>(*bus),
      static_cast<std::uint8_t>(*slot),
      static_cast<std::uint8_t>(*function)};
}

std::string PciAddress::to_string() const {
  return fmt::format(
      "{:04x}:{:02x}:{:02x}.{:x}", pci_domain, bus, slot, function);
}

bool PciAddress::same_slot(const PciAddress& other) const {
  return pci_domain == other.pci_domain && bus == other.bus &&
      slot == other.slot;
}

std::optional<GpuUuid> GpuUuid::parse(std::string_view text) {
  const bool known = text.starts_with("GPU-") || text.starts_with("MIG-");
  const bool clean = std::all_of(text.begin(), text.end(), [](char c) {
    return is_alphanumeric(c) || c == '-' || c == '/';
  });
  if (!known || !clean || text.size() < 5 || text.size() > 96) {
    return std::nullopt;
  }
  return GpuUuid{std::string(text)};
}

std::optional<ThunderboltRoute> ThunderboltRoute::parse(std::string_view text) {
  const auto dash = text.find('-');
  if (dash == std::string_view::npos) {
    return std::nullopt;
  }
  ThunderboltRoute result;
  const auto digits = text.substr(0, dash);
  const auto [end, error] = std::from_chars(
      digits.data(), digits.data() + digits.size(), result.thunderbolt_domain);
  const auto route = parse_hex(text.substr(dash + 1), 16);
  if (error != std::errc() || end != digits.data() + digits.size() || !route) {
    return std::nullopt;
  }
  result.route = *route;
  return result;
}

std::string ThunderboltRoute::to_string() const {
  return fmt::format("{}-{:x}", thunderbolt_domain, route);
}

int ThunderboltRoute::depth() const {
  return (std::bit_width(route) + 7) / 8;
}

ThunderboltRoute ThunderboltRoute::parent() const {
  const int hops = depth();
  if (hops == 0) {
    return *this;
  }
  const auto mask = (std::uint64_t{1} << (8 * (hops - 1))) - 1;
  return {thunderbolt_domain, route & mask};
}

std::optional<HostName> HostName::parse(std::string_view text) {
  const bool clean = std::all_of(text.begin(), text.end(), [](char c) {
    return is_alphanumeric(c) || c == '.' || c == '-' || c == '_';
  });
  if (!clean || text.empty() || text.size() > 253) {
    return std::nullopt;
  }
  return HostName{std::string(text)};
}

} // namespace egpurun::topology
