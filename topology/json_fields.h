#pragma once

#include <concepts>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "topology/ids.h"

// One list of (name, member) per struct serves both directions of JSON: the
// struct's header declares `template <class V> void fields(V&& v, T& value)`
// that calls v("name", value.member) for each member, and enums offer
// `std::span<const EnumName<E>> enum_names(E)`.
namespace egpurun::topology {

// Keeps the order of the fields, so that files can be compared line by line.
using Json = nlohmann::ordered_json;

template <class E>
struct EnumName {
  E value;
  const char* name;
};

template <class E>
requires std::is_enum_v<E>
const char* name_of(E value) {
  for (const auto& row : enum_names(E{})) {
    if (row.value == value) {
      return row.name;
    }
  }
  return "unknown";
}

template <class T>
concept StrongId = requires(const T& id, std::string_view text) {
  { T::parse(text) } -> std::same_as<std::optional<T>>;
  { id.to_string() } -> std::convertible_to<std::string>;
};

} // namespace egpurun::topology
