#pragma once

#include <vector>

#include "topology/discovery/tunnel_ports.h"

namespace egpurun::topology {

// The links from the root port down to the last function of `chain` (root port
// first), each judged: real, tunnelled, or inside one chip.
std::vector<LinkHop> find_link_path(
    const std::vector<const PciDevice*>& chain,
    const TunnelPorts& tunnel_ports);

} // namespace egpurun::topology
