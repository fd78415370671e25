#pragma once

#include <string>
#include <utility>
#include <variant>

namespace egpurun::topology {

// What a read gave: a value, or the errno of the failure. A failed read is a
// fact about the machine (EINVAL of a link attribute: the card is gone).
template <class T>
class Reading {
 public:
  Reading(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  static Reading failed(int errno_value) {
    return Reading(std::in_place_index<1>, errno_value);
  }

  bool ok() const {
    return content_.index() == 0;
  }
  // Only if ok().
  const T& value() const {
    return std::get<0>(content_);
  }
  T value_or(T other) const {
    return ok() ? value() : std::move(other);
  }
  // 0 if ok().
  int errno_value() const {
    return ok() ? 0 : std::get<1>(content_);
  }

 private:
  template <std::size_t I>
  Reading(std::in_place_index_t<I> tag, int errno_value)
      : content_(tag, errno_value) {}

  std::variant<T, int> content_;
};

} // namespace egpurun::topology
