#pragma once

#include <string>
#include <vector>

#include "jobs/plan/launch_plan.h"
#include "topology/ids.h"

namespace egpurun::jobs {

struct PlacementGpu {
  GpuUuid uuid;
  PciAddress pci_address;
  std::string name;
  std::string unusable_because; // "" = usable
};

// What placement needs to know of one host.
struct PlacementHost {
  std::string name; // as the user wrote it
  int slots = 0; // 0 = the user gave no number
  std::string address; // numeric, "" = unknown
  bool is_local = false; // the PC egpurun runs on
  bool is_probed = false; // `gpus` is what the host really has
  std::vector<PlacementGpu> gpus;
};

// Gives each host's local ranks its usable GPUs in PCI order, one each, and
// numbers hosts and daemons in the order given (Open MPI: mpirun's own host is
// daemon 0, the others count from 1).
LaunchPlan place_ranks(const std::vector<PlacementHost>& hosts);

// Ranks to start when the user gave no number: a host's slots, else its usable
// GPUs, else 1.
int default_ranks(const PlacementHost& host);

} // namespace egpurun::jobs
