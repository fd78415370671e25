#pragma once

#include <string>
#include <utility>
#include <vector>

#include "topology/discovery/host_topology.h"

// Short forms to put a machine together from PCI functions and routers.
namespace egpurun::topology {

inline PciAddress at(const char* text) {
  return PciAddress::parse(text).value();
}

inline PciDevice function(
    const char* address,
    const char* parent,
    std::uint32_t vendor_id,
    std::uint32_t device_id,
    std::uint32_t class_code,
    double max_speed = 0,
    int max_lanes = 0) {
  PciDevice result;
  result.address = at(address);
  result.parent = PciAddress::parse(parent);
  result.vendor_id = vendor_id;
  result.device_id = device_id;
  result.class_code = class_code;
  if (max_speed > 0) {
    result.link = {max_speed, max_speed, max_lanes, max_lanes};
  }
  if (vendor_id == 0x10de) {
    result.driver = "nvidia";
  }
  return result;
}

inline ThunderboltRouter router(const char* route) {
  ThunderboltRouter result;
  result.route = ThunderboltRoute::parse(route).value();
  result.authorized = 1;
  return result;
}

inline ThunderboltDomain domain(std::uint32_t number, const char* nhi) {
  ThunderboltDomain result;
  result.thunderbolt_domain = number;
  result.nhi = at(nhi);
  return result;
}

inline HostTopology join(
    std::vector<PciDevice> functions,
    ThunderboltTree thunderbolt = {},
    HostFacts host = {}) {
  HostParts parts;
  parts.host = std::move(host);
  parts.pci = PciTree(std::move(functions));
  parts.thunderbolt = std::move(thunderbolt);
  return join_host_topology(std::move(parts));
}

inline std::vector<HopKind> kinds(const Gpu& gpu) {
  std::vector<HopKind> result;
  for (const auto& hop : gpu.path) {
    result.push_back(hop.kind);
  }
  return result;
}

inline constexpr auto kPcie = HopKind::kPcie;
inline constexpr auto kTunnel = HopKind::kTunnel;
inline constexpr auto kInternal = HopKind::kInternal;

} // namespace egpurun::topology
