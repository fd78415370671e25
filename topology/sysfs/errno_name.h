#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace egpurun::topology {

// "EINVAL" for EINVAL; "errno 4711" for a value without a name.
std::string errno_name(int errno_value);

// The value of "EINVAL" and its like.
std::optional<int> errno_from_name(std::string_view name);

} // namespace egpurun::topology
