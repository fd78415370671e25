#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace egpurun::runtime {

// The last tensor of a file: CRC-32 (zlib's) of every byte before it, as four
// little-endian bytes. It is the file's end in every format version.
inline constexpr std::string_view kChecksumName = "egpurun.crc32";
inline constexpr std::int64_t kChecksumBytes = 4;
inline constexpr std::string_view kFormatName = "egpurun checkpoint";

// One tensor in a file. Offsets count from the end of the header.
struct LayoutEntry {
  std::string name;
  c10::ScalarType type = c10::ScalarType::Byte;
  std::vector<std::int64_t> shape;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

// A header's content: entries in the order of their data, without gaps, the
// checksum's last.
struct CheckpointLayout {
  std::map<std::string, std::string> metadata;
  std::vector<LayoutEntry> entries;
};

// safetensors' name of a type; nullopt if checkpoints cannot hold it.
std::optional<std::string_view> type_name(c10::ScalarType type);

// The header's bytes: 8 bytes of little-endian length, then JSON, padded with
// spaces to a multiple of 8.
std::string format_header(const CheckpointLayout& layout);

// Parses the JSON of a header whose file holds `data_bytes` after it. Throws
// std::invalid_argument with a sentence that says what is wrong: no JSON, an
// unknown type, sizes that do not fit, gaps or overlaps, no checksum at the
// end.
CheckpointLayout parse_header(std::string_view json, std::int64_t data_bytes);

} // namespace egpurun::runtime
