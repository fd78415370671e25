#pragma once

#include <map>
#include <vector>

#include "topology/json_fields.h"
#include "topology/units.h"

namespace egpurun::topology {

// Writes any value that has fields, and the types fields are made of.
struct JsonWriter {
  template <class T>
  static Json write(T& value) {
    if constexpr (StrongId<T>) {
      return value.to_string();
    } else if constexpr (std::is_enum_v<T>) {
      return name_of(value);
    } else if constexpr (std::same_as<T, Bytes>) {
      return value.count;
    } else if constexpr (std::same_as<T, GigabytesPerSecond>) {
      return value.value;
    } else if constexpr (
        std::is_arithmetic_v<T> || std::same_as<T, std::string>) {
      return value;
    } else {
      Json object = Json::object();
      fields(
          [&](const char* name, auto& member) { object[name] = write(member); },
          value);
      return object;
    }
  }
  template <class T>
  static Json write(std::optional<T>& value) {
    return value ? write(*value) : Json(nullptr);
  }
  template <class T>
  static Json write(std::vector<T>& values) {
    Json array = Json::array();
    for (auto& value : values) {
      array.push_back(write(value));
    }
    return array;
  }
  static Json write(std::map<std::string, std::string>& values) {
    return Json(values);
  }
};

} // namespace egpurun::topology
