#include "runtime/checkpoints/checkpoint_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace egpurun::runtime {
namespace {

using Json = nlohmann::ordered_json; // the tensors' order is kept

constexpr std::string_view kMetadataName = "__metadata__";
constexpr std::size_t kAlignment = 8;

constexpr std::array<std::pair<c10::ScalarType, std::string_view>, 10> kTypes{{
    {c10::ScalarType::Double, "F64"},
    {c10::ScalarType::Float, "F32"},
    {c10::ScalarType::Half, "F16"},
    {c10::ScalarType::BFloat16, "BF16"},
    {c10::ScalarType::Long, "I64"},
    {c10::ScalarType::Int, "I32"},
    {c10::ScalarType::Short, "I16"},
    {c10::ScalarType::Char, "I8"},
    {c10::ScalarType::Byte, "U8"},
    {c10::ScalarType::Bool, "BOOL"},
}};

[[noreturn]] void fail(const std::string& text) {
  throw std::invalid_argument(text);
}

c10::ScalarType parse_type(const std::string& name) {
  for (const auto& [type, known] : kTypes) {
    if (known == name) {
      return type;
    }
  }
  fail(fmt::format("unknown tensor type '{}'", name));
}

std::int64_t natural_number(const Json& json) {
  const bool fits = json.is_number_unsigned() &&
      json.get<std::uint64_t>() <=
          static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!fits) {
    fail("a size or offset that is no whole number");
  }
  return json.get<std::int64_t>();
}

// Bytes of a tensor; fails on overflow, also of the sizes beside a 0.
std::int64_t byte_count(const LayoutEntry& entry) {
  auto bytes = static_cast<std::int64_t>(c10::elementSize(entry.type));
  bool empty = false;
  for (const std::int64_t size : entry.shape) {
    empty = empty || size == 0;
    if (size != 0 && __builtin_mul_overflow(bytes, size, &bytes)) {
      fail(fmt::format("the shape of '{}' is too large", entry.name));
    }
  }
  return empty ? 0 : bytes;
}

LayoutEntry parse_entry(const std::string& name, const Json& json) {
  LayoutEntry entry;
  entry.name = name;
  entry.type = parse_type(json.at("dtype").get<std::string>());
  for (const Json& size : json.at("shape")) {
    entry.shape.push_back(natural_number(size));
  }
  const Json& offsets = json.at("data_offsets");
  if (!offsets.is_array() || offsets.size() != 2) {
    fail(fmt::format("'{}' has no two data offsets", name));
  }
  entry.begin = natural_number(offsets[0]);
  entry.end = natural_number(offsets[1]);
  if (entry.end < entry.begin || entry.end - entry.begin != byte_count(entry)) {
    fail(fmt::format("the offsets of '{}' do not fit its shape", name));
  }
  return entry;
}

void check_offsets(
    const std::vector<LayoutEntry>& entries,
    std::int64_t data_bytes) {
  std::int64_t position = 0;
  for (const LayoutEntry& entry : entries) {
    if (entry.begin != position) {
      fail(fmt::format("a gap or overlap in front of '{}'", entry.name));
    }
    position = entry.end;
  }
  if (position != data_bytes) {
    fail(fmt::format("{} bytes of data instead of {}", data_bytes, position));
  }
  if (entries.empty() || entries.back().name != kChecksumName ||
      entries.back().end - entries.back().begin != kChecksumBytes) {
    fail(fmt::format("it does not end with '{}'", kChecksumName));
  }
}

} // namespace

std::optional<std::string_view> type_name(c10::ScalarType type) {
  for (const auto& [known, name] : kTypes) {
    if (known == type) {
      return name;
    }
  }
  return std::nullopt;
}

std::string format_header(const CheckpointLayout& layout) {
  Json json;
  json[std::string(kMetadataName)] = layout.metadata;
  for (const LayoutEntry& entry : layout.entries) {
    json[entry.name] = {
        {"dtype", type_name(entry.type).value()},
        {"shape", entry.shape},
        {"data_offsets", {entry.begin, entry.end}}};
  }
  // Strings from elsewhere (paths, host names) may be no UTF-8.
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');
  std::string header;
  for (int shift = 0; shift < 64; shift += 8) {
    header.push_back(static_cast<char>(text.size() >> shift & 0xFF));
  }
  return header + text;
}

CheckpointLayout parse_header(std::string_view text, std::int64_t data_bytes) {
  CheckpointLayout layout;
  try {
    const Json json = Json::parse(text);
    if (!json.is_object()) {
      fail("the header is no JSON object");
    }
    for (const auto& [name, value] : json.items()) {
      if (name == kMetadataName) {
        layout.metadata = value.get<std::map<std::string, std::string>>();
      } else {
        layout.entries.push_back(parse_entry(name, value));
      }
    }
  } catch (const Json::exception& error) {
    fail(fmt::format("the header is no valid JSON ({})", error.what()));
  }
  std::sort(
      layout.entries.begin(),
      layout.entries.end(),
      [](const LayoutEntry& a, const LayoutEntry& b) {
        return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
      });
  check_offsets(layout.entries, data_bytes);
  return layout;
}

} // namespace egpurun::runtime
