#pragma once

#include <string>

#include "topology/discovery/host_topology.h"

namespace egpurun::topology {

// The topology as a tree for people. States rates only where somebody measured
// them; raw signalling of cables is named as such.
std::string to_text(const HostTopology& topology, bool use_colour);

} // namespace egpurun::topology
