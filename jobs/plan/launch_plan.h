#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "topology/ids.h"

namespace egpurun::jobs {

using EnvironmentMap = std::map<std::string, std::string>;

// The GPU of the ranks with one local rank on one host.
struct PlannedGpu {
  int local_rank = 0;
  GpuUuid uuid;
  PciAddress pci_address;
  std::string name;

  bool operator==(const PlannedGpu&) const = default;
};

struct PlannedHost {
  std::string name; // as the user wrote it
  int index = 0; // place in the plan
  // Number of mpirun's daemon there (0 = mpirun itself): tells hosts apart
  // whose own name differs from the name the user wrote.
  int daemon = 0;
  int slots = 0; // 0 = mpirun decides
  std::string address; // numeric, "" = unknown
  std::vector<PlannedGpu> gpus; // by local rank, 0 first
  EnvironmentMap environment; // for all ranks of this host

  bool operator==(const PlannedHost&) const = default;
};

// What egpurun decided before the start; mpirun maps the ranks. Immutable once
// built; travels to every rank as JSON.
struct LaunchPlan {
  std::vector<PlannedHost> hosts;
  EnvironmentMap environment; // for all ranks
  std::vector<std::string> reasons; // one sentence each, for --egpu-explain

  bool operator==(const LaunchPlan&) const = default;
};

// Who a started process is, as Open MPI and the kernel tell it.
struct RankIdentity {
  int rank = 0;
  int world_size = 1;
  int local_rank = 0;
  int local_world_size = 1;
  std::string host_name; // the kernel's
  std::optional<int> daemon;
};

// One line of JSON. `reasons` stay at home: ranks do not need them.
std::string format_launch_plan(const LaunchPlan& plan);

// Throws Error (kBadInput) for anything that is not a plan.
LaunchPlan parse_launch_plan(const std::string& json);

// The host of `identity`: by full name, else by name up to the first dot, else
// by daemon number; null if the plan does not know it.
const PlannedHost* find_host(
    const LaunchPlan& plan,
    const RankIdentity& identity);

// All variables of the contract for one rank. Local ranks beyond the last GPU
// share the host's GPUs in turn.
EnvironmentMap plan_rank_environment(
    const LaunchPlan& plan,
    const RankIdentity& identity);

// The plan for people: a line per host and GPU, then the job's variables.
std::string format_plan_text(const LaunchPlan& plan);

} // namespace egpurun::jobs
