#pragma once

#include <string>

namespace egpurun::jobs {

// A TOML basic string in quotes; `text` is UTF-8.
std::string toml_text(const std::string& text);

// Fewest digits that read back as the same double, with the point or exponent
// that tells a TOML float from an integer.
std::string toml_number(double value);

} // namespace egpurun::jobs
