#pragma once

#include <optional>
#include <string>

#include "jobs/plan/placement.h"
#include "jobs/spec/job_spec.h"
#include "launcher/options/command_line.h"

namespace egpurun::launcher {

// `egpurun [OPTIONS] JOB.toml [OPTIONS] [-- EGPU_TRAIN_OPTIONS]`.
struct JobCommand {
  std::string job_file;
  Words train_options;
  CommandLine line; // the options of both places, no program
};

// Nothing if the line's program is not a job file (a name ending in .toml that
// is no executable). Throws Error (kBadInput) for words that fit neither.
std::optional<JobCommand> find_job_command(
    const CommandLine& line,
    unsigned version);

// Puts the job's hosts in front of the command line's options, unless the
// command line names hosts itself.
void add_job_hosts(CommandLine& line, const jobs::HostsSection& hosts);

// Adds what the job file says besides hosts: number of ranks, network,
// settings for busy office PCs. What the command line or Open MPI's variables
// set already stays. `program` starts one rank.
void add_job_options(
    JobCommand& command,
    const jobs::HostsSection& wanted,
    const std::vector<jobs::PlacementHost>& hosts,
    unsigned version);

// Throws Error (kEnvironment) that names every host that neither the name
// service nor ssh's configuration knows, or else every host whose ssh port does
// not answer within 5 s. Nothing to check with an own plm_rsh_agent.
void check_hosts(
    const std::vector<jobs::PlacementHost>& hosts,
    const CommandLine& line);

} // namespace egpurun::launcher
