#pragma once

#include <string>
#include <string_view>

namespace egpurun::jobs {

// A TOML basic string in quotes; `text` is UTF-8.
std::string toml_text(const std::string& text);

// Fewest digits that read back as the same double, with the point or exponent
// that tells a TOML float from an integer.
std::string toml_number(double value);

// The first line (1-based) with more than `most` dots outside of quotes and
// comments; 0 = none. toml++ descends dotted names by recursion without limit.
int line_of_deep_name(std::string_view toml, int most);

} // namespace egpurun::jobs
