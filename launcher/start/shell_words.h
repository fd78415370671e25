#pragma once

#include <string>

#include "launcher/options/command_line.h"

namespace egpurun::launcher {

// The words as one line for a POSIX shell, quoted where needed.
std::string quote_for_shell(const Words& words);

} // namespace egpurun::launcher
