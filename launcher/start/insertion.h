#pragma once

#include <string>
#include <vector>

#include "launcher/options/command_line.h"

namespace egpurun::launcher {

// Puts `starter` (egpu-rank and its plan) in front of each context's program,
// except where that would hide mpirun's own behaviour: a program that is not
// found here, options that look at the program's file, an app file. Adds a
// sentence to `notes` for each exception.
void insert_rank_starter(
    CommandLine& line,
    const Words& starter,
    std::vector<std::string>& notes);

} // namespace egpurun::launcher
