#pragma once

#include <map>
#include <string>
#include <vector>

#include "jobs/plan/placement.h"
#include "launcher/options/command_line.h"
#include "launcher/start/mpirun_program.h"

namespace egpurun::launcher {

// Output of `mpirun --tag-output` by rank. A tag "[1,RANK]<stdout>:" stands
// before each line, and in the middle of a line where a pipe was read in parts.
std::map<int, std::string> split_tagged_output(const std::string& text);

// Asks every host that is not probed yet for its GPUs, by one mpirun that
// starts `egpu_topo` once per host with the hosts and parameters of `line`.
// Throws Error (kEnvironment) if that fails.
void discover_remote_gpus(
    std::vector<jobs::PlacementHost>& hosts,
    const CommandLine& line,
    const MpirunProgram& mpirun,
    const std::string& egpu_topo);

} // namespace egpurun::launcher
