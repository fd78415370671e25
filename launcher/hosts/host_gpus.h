#pragma once

#include "jobs/plan/placement.h"
#include "topology/discovery/host_topology.h"

namespace egpurun::launcher {

// The GPUs of a host as placement sees them. A GPU is usable if it is
// NVIDIA's, sysfs finds nothing against it and NVML gave it a UUID.
std::vector<jobs::PlacementGpu> list_placement_gpus(
    const topology::HostTopology& host);

// Fills in the GPUs of this PC, or of the recorded machine EGPU_MACHINE. Cheap
// where there are none. A broken recording throws Error (kBadInput).
void discover_local_gpus(std::vector<jobs::PlacementHost>& hosts);

// Of hosts in general: true if any has a GPU that ranks can use.
bool has_usable_gpu(const std::vector<jobs::PlacementHost>& hosts);

} // namespace egpurun::launcher
