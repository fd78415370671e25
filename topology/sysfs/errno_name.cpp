#include "topology/sysfs/errno_name.h"

#include <cstring>

namespace egpurun::topology {

std::string errno_name(int errno_value) {
  const char* name = strerrorname_np(errno_value);
  return name != nullptr ? name : "errno " + std::to_string(errno_value);
}

std::optional<int> errno_from_name(std::string_view name) {
  constexpr int kLargest = 133; // EHWPOISON, include/uapi/asm-generic/errno.h
  for (int value = 1; value <= kLargest; ++value) {
    const char* candidate = strerrorname_np(value);
    if (candidate != nullptr && name == candidate) {
      return value;
    }
  }
  return std::nullopt;
}

} // namespace egpurun::topology
