#pragma once

#include <string>
#include <vector>

#include "jobs/plan/launch_plan.h"
#include "launcher/options/command_line.h"
#include "launcher/start/mpirun_program.h"

namespace egpurun::launcher {

// Everything that is decided before mpirun starts.
struct Launch {
  jobs::LaunchPlan plan;
  Words command; // mpirun's name first
  std::vector<std::string> notes; // where egpu-rank was left out, and why
};

// Plans a command line, or a job file: reads files and this PC, starts
// nothing but probes. Throws Error.
Launch prepare_launch(const CommandLine& line, const MpirunProgram& mpirun);

// The plan, the command and the reasons, for --egpu-dry-run.
std::string format_dry_run(const Launch& launch);

// The reasons, a line each, for --egpu-explain.
std::string format_reasons(const Launch& launch);

// Becomes mpirun; returns only by throwing Error (kEnvironment).
[[noreturn]] void execute(const MpirunProgram& mpirun, const Words& command);

} // namespace egpurun::launcher
