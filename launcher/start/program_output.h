#pragma once

#include <optional>
#include <string>

#include "launcher/options/command_line.h"
#include "topology/units.h"

namespace egpurun::launcher {

struct ProgramOutput {
  std::string text; // standard output
  int status = 0; // exit status, or 128 + signal
};

// Runs a program (absolute path first) with stdin from /dev/null and returns
// its output; the program is killed at `limit`. Nothing if it cannot be
// started or was killed. stderr is joined to the text, or dropped.
std::optional<ProgramOutput> read_program_output(
    const Words& command,
    Seconds limit,
    bool with_stderr);

} // namespace egpurun::launcher
