#pragma once

#include <string>

namespace egpurun::launcher {

// `egpurun --help`: usage, our own options, then mpirun's by group.
std::string format_help();

} // namespace egpurun::launcher
