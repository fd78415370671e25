#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "topology/error.h"
#include "topology/json_fields.h"
#include "topology/units.h"

namespace egpurun::topology {

// Reads what JsonWriter writes. Unknown fields are ignored, a missing field is
// null; throws Error (kBadInput) with the path of the field that is wrong.
class JsonReader {
 public:
  // `asked` and `place` describe the whole document, for errors.
  JsonReader(std::string asked, ErrorPlace place)
      : asked_(std::move(asked)), place_(std::move(place)) {}

  template <class T>
  void read(const Json& json, const std::string& where, T& value) const {
    if constexpr (StrongId<T>) {
      const auto id = T::parse(text_of(json, where));
      if (!id) {
        fail(where, json, "a valid name or address");
      }
      value = *id;
    } else if constexpr (std::is_enum_v<T>) {
      read_enum(json, where, value);
    } else if constexpr (std::same_as<T, Bytes>) {
      read(json, where, value.count);
    } else if constexpr (std::same_as<T, GigabytesPerSecond>) {
      read(json, where, value.value);
    } else if constexpr (std::same_as<T, std::string>) {
      value = text_of(json, where);
    } else if constexpr (std::same_as<T, bool>) {
      value = json.is_boolean() ? json.get<bool>()
                                : fail(where, json, "true or false");
    } else if constexpr (std::is_floating_point_v<T>) {
      value = json.is_number() ? json.get<T>() : fail(where, json, "a number");
    } else if constexpr (std::is_integral_v<T>) {
      read_integer(json, where, value);
    } else {
      if (!json.is_object()) {
        fail(where, json, "an object");
      }
      fields(
          [&](const char* name, auto& member) {
            const auto found = json.find(name);
            const Json none;
            read(
                found == json.end() ? none : *found,
                where + "." + name,
                member);
          },
          value);
    }
  }
  template <class T>
  void read(const Json& json, const std::string& where, std::optional<T>& value)
      const {
    value.reset();
    if (!json.is_null()) {
      read(json, where, value.emplace());
    }
  }
  template <class T>
  void read(const Json& json, const std::string& where, std::vector<T>& values)
      const {
    values.clear();
    if (!json.is_array()) {
      fail(where, json, "a list");
    }
    for (const auto& entry : json) {
      const auto index = std::to_string(values.size());
      read(entry, where + "[" + index + "]", values.emplace_back());
    }
  }
  void read(
      const Json& json,
      const std::string& where,
      std::map<std::string, std::string>& values) const {
    values.clear();
    if (!json.is_object()) {
      fail(where, json, "an object");
    }
    for (const auto& [name, entry] : json.items()) {
      values[name] = text_of(entry, where + "." + name);
    }
  }
  // The document itself; throws Error when `text` is not JSON.
  Json parse(const std::string& text) const;

 private:
  template <class T>
  void read_integer(const Json& json, const std::string& where, T& value)
      const {
    const bool fits = json.is_number_unsigned()
        ? std::in_range<T>(json.get<std::uint64_t>())
        : json.is_number_integer() &&
            std::in_range<T>(json.get<std::int64_t>());
    value = fits ? json.get<T>() : fail(where, json, "a whole number in range");
  }
  template <class E>
  void read_enum(const Json& json, const std::string& where, E& value) const {
    const auto text = text_of(json, where);
    for (const auto& row : enum_names(E{})) {
      if (text == row.name) {
        value = row.value;
        return;
      }
    }
    fail(where, json, "a known word");
  }
  std::string text_of(const Json& json, const std::string& where) const;
  // Always throws; the result type only lets it stand in an expression.
  [[noreturn]] bool fail(
      const std::string& where,
      const Json& json,
      const char* expected) const;

  std::string asked_;
  ErrorPlace place_;
};

} // namespace egpurun::topology
