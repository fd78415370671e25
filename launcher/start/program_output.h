#pragma once

#include <optional>
#include <string>

#include "launcher/options/command_line.h"
#include "topology/units.h"

namespace egpurun::launcher {

enum class StandardError {
  kJoined, // part of the text
  kDropped,
  kKept, // where our own goes
};

struct ProgramOutput {
  std::string text;
  int status = 0; // exit status, or 128 + signal
};

// Runs the program `path` (default: the first word, a path) with stdin from
// /dev/null and returns its output; the program is killed at `limit`. Nothing
// if it cannot be started or was killed.
std::optional<ProgramOutput> read_program_output(
    const Words& command,
    Seconds limit,
    StandardError standard_error,
    const std::string& path = {});

} // namespace egpurun::launcher
