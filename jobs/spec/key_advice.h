#pragma once

#include <string>
#include <string_view>

namespace egpurun::jobs {

// What to do about a name that job_keys.h does not know: the nearest known
// name, the section in which such a key belongs, or all names there are.
std::string unknown_key_advice(std::string_view section, std::string_view name);
std::string unknown_section_advice(std::string_view name);

// About a key in front of the first section.
std::string stray_key_advice(std::string_view name);

} // namespace egpurun::jobs
