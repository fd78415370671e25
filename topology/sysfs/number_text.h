#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace egpurun::topology {

// Numbers as sysfs writes them. The whole text must be a number that fits;
// decimal, or hexadecimal with "0x".
std::optional<std::int64_t> parse_integer(std::string_view text);
std::optional<std::uint64_t> parse_unsigned(std::string_view text);

// The number at the start of "20.0 Gb/s" or "16.0 GT/s PCIe": it must be
// positive, finite and followed by a space and `unit`.
std::optional<double> parse_quantity(
    std::string_view text,
    std::string_view unit);

} // namespace egpurun::topology
