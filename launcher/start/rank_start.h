#pragma once

#include <string>

#include "jobs/plan/launch_plan.h"
#include "launcher/options/command_line.h"

namespace egpurun::launcher {

// egpu-rank's command line: [--plan JSON] [--path FOLDERS] [--] PROGRAM ...
struct RankStart {
  jobs::LaunchPlan plan; // empty without --plan
  std::string search_path; // searched before PATH
  Words program;
};

// Throws Error (kBadInput).
RankStart parse_rank_start(const Words& words);

// From Open MPI's variables; rank 0 of 1 outside of mpirun.
jobs::RankIdentity read_rank_identity();

// Number of the daemon in "1309474816.1;tcp://..." (Open MPI 4) or
// "prterun-pc1-99@0.1;tcp4://..." (5); none in any other text.
std::optional<int> parse_daemon_number(const std::string& contact);

// Sets this process's environment for the program; values that are there
// already stay.
void apply_rank_environment(
    const RankStart& start,
    const jobs::RankIdentity& identity);

struct FailedStart {
  int exit_status = 0; // mpirun 4.1's for the same failure
  std::string found; // why
};

// Replaces this process by the program; returns only if that fails.
FailedStart execute_program(const RankStart& start);

} // namespace egpurun::launcher
