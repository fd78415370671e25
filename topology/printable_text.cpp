#include "topology/printable_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace egpurun::topology {
namespace {

// Length of the valid UTF-8 character at the start of `text`; 0 if there is
// none. C1 controls (U+0080 to U+009F) count as invalid: terminals obey them.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint8_t>(text[i]);
  };
  const std::uint32_t first = byte(0);
  const std::size_t length = first < 0x80 ? 1
      : (first >> 5) == 0x6               ? 2
      : (first >> 4) == 0xe               ? 3
      : (first >> 3) == 0x1e              ? 4
                                          : 0;
  if (length < 2 || text.size() < length) {
    return length == 1 ? 1 : 0;
  }
  std::uint32_t code = first & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) >> 6) != 0x2) {
      return 0;
    }
    code = (code << 6) | (byte(i) & 0x3fU);
  }
  constexpr std::uint32_t kSmallest[] = {0, 0, 0xa0, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  return code < kSmallest[length] || surrogate || code > 0x10ffff ? 0 : length;
}

bool is_control(char c) {
  return (c >= 0 && c < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
}

} // namespace

std::string printable_text(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0 || is_control(text[0])) {
      result += '?';
    } else {
      result.append(text, 0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

} // namespace egpurun::topology
