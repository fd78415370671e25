#pragma once

#include <vector>

#include "jobs/plan/placement.h"
#include "launcher/hosts/host_list.h"
#include "launcher/options/command_line.h"

namespace egpurun::launcher {

// Hosts that a command line names, by --host, else by its hostfiles; empty if
// it names none. Several contexts' hosts are joined.
std::vector<ListedHost> find_listed_hosts(const CommandLine& line);

// True inside an allocation of Slurm, PBS, SGE or LSF, whose hosts mpirun
// reads itself.
bool is_in_allocation();

// What placement needs of the listed hosts, without GPUs; this PC alone if none
// is listed and no scheduler gives any. Asks no name server.
std::vector<jobs::PlacementHost> list_placement_hosts(
    const std::vector<ListedHost>& listed);

// Where rank 0 is expected: Open MPI fills its own host first if it may use
// it, else the first host. Sets that host's address and the plan's
// MASTER_ADDR, MASTER_PORT. `network` as in btl_tcp_if_include, "" = any.
// Resolves at most one name.
void choose_master(jobs::LaunchPlan& plan, const std::string& network);

} // namespace egpurun::launcher
