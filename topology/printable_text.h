#pragma once

#include <string>
#include <string_view>

namespace egpurun::topology {

// `text` with everything that could upset a terminal or a JSON file replaced
// by '?': control characters except newline and tab, and invalid UTF-8.
// Names in device firmware are foreign input.
std::string printable_text(std::string_view text);

} // namespace egpurun::topology
