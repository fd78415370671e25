#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "topology/discovery/host_topology.h"

namespace egpurun::topology {

// A PCIe port of the host that leads into a Thunderbolt cable.
struct TunnelPort {
  PciAddress port;
  PciAddress nhi; // its host controller
  std::optional<std::uint32_t> thunderbolt_domain; // none: driver not loaded
  int order = 0; // 0-based among the controller's ports, by PCI address
  Confidence confidence = Confidence::kLow;
  std::string reason;
};

struct TunnelPorts {
  std::vector<TunnelPort> ports;
  // Bridges of plug-in host controllers; they look like docks and are none.
  std::set<PciAddress> controller_bridges;

  const TunnelPort* find(const PciAddress& port) const;
};

// Which ports belong to which controller. Sources, best first: the kernel's
// device links (tb_acpi_add_links), the bridge above a plug-in controller, the
// usual addresses of Intel's built-in ones.
TunnelPorts find_tunnel_ports(
    const PciTree& pci,
    const ThunderboltTree& thunderbolt);

// Router at the far end of `path` (root port first); none if not tunnelled or
// if several fit. Host adapters 1 and 2 are the first port, 3 and 4 the second
// (two lanes each; usb4_switch_map_pcie_down pairs them in order).
std::optional<RouterMapping> map_router(
    const std::vector<LinkHop>& path,
    const TunnelPorts& tunnel_ports,
    const ThunderboltTree& thunderbolt);

} // namespace egpurun::topology
