#include "jobs/spec/host_entry.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace egpurun::jobs {

namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kHostCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";

bool consists_of(std::string_view text, std::string_view characters) {
  return !text.empty() &&
      text.find_first_not_of(characters) == std::string_view::npos;
}

// A decimal number from 0 to `maximum`, digits only.
std::optional<std::int64_t> parse_count(
    std::string_view text,
    std::int64_t maximum) {
  std::int64_t count = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, count);
  if (!consists_of(text, kDigits) || result.ec != std::errc() ||
      count > maximum) {
    return std::nullopt;
  }
  return count;
}

bool is_ipv4_prefix(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos ||
      !parse_count(text.substr(slash + 1), 32)) {
    return false;
  }
  std::string_view address = text.substr(0, slash);
  int parts = 0;
  while (true) {
    const std::size_t dot = address.find('.');
    if (!parse_count(address.substr(0, dot), 255)) {
      return false;
    }
    ++parts;
    if (dot == std::string_view::npos) {
      return parts == 4;
    }
    address.remove_prefix(dot + 1);
  }
}

// Linux allows 15 bytes in an interface name.
bool is_interface_name(std::string_view text) {
  constexpr std::size_t kLongestInterface = 15;
  return text.size() <= kLongestInterface && text.front() != '-' &&
      consists_of(text, std::string(kHostCharacters) + "@:");
}

} // namespace

std::optional<HostEntry> parse_host_entry(std::string_view text) {
  constexpr std::size_t kLongestHost = 253;
  constexpr std::int64_t kMostSlots = 4096;
  HostEntry entry;
  const std::size_t colon = text.find(':');
  const std::string_view host = text.substr(0, colon);
  if (!consists_of(host, kHostCharacters) || host.front() == '-' ||
      host.size() > kLongestHost) {
    return std::nullopt;
  }
  entry.host = host;
  if (colon != std::string_view::npos) {
    const auto slots = parse_count(text.substr(colon + 1), kMostSlots);
    if (!slots || *slots == 0) {
      return std::nullopt;
    }
    entry.slots = *slots;
  }
  return entry;
}

bool is_network_choice(std::string_view text) {
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    if (part.empty() || !(is_interface_name(part) || is_ipv4_prefix(part))) {
      return false;
    }
    if (comma == std::string_view::npos) {
      return true;
    }
    text.remove_prefix(comma + 1);
  }
}

} // namespace egpurun::jobs
