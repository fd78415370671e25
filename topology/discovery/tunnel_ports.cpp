#include "topology/discovery/tunnel_ports.h"

#include <algorithm>

namespace egpurun::topology {
namespace {

constexpr std::uint32_t kClassUsb4Host = 0x0c0340; // NHI of USB4

// The ports one controller owns, and how we know.
struct OwnedPorts {
  std::set<PciAddress> ports; // ascending = the controller's port order
  Confidence confidence = Confidence::kLow;
  std::string reason;
};

bool is_bridge(const PciTree& pci, const PciAddress& address) {
  const auto* function = pci.find(address);
  return function != nullptr && function->is_bridge();
}

OwnedPorts ports_by_device_link(const PciTree& pci, const PciDevice& nhi) {
  OwnedPorts owned{{}, Confidence::kHigh, "the kernel's device links"};
  for (const auto& consumer : nhi.consumers) {
    if (is_bridge(pci, consumer)) {
      owned.ports.insert(consumer);
    }
  }
  for (const auto& [address, function] : pci.devices()) {
    const auto& suppliers = function.suppliers;
    if (function.is_bridge() &&
        std::find(suppliers.begin(), suppliers.end(), nhi.address) !=
            suppliers.end()) {
      owned.ports.insert(address);
    }
  }
  return owned;
}

// A plug-in controller is a switch; one of its ports leads to the NHI, others
// to its USB controller, the rest into cables.
OwnedPorts ports_by_ancestry(const PciTree& pci, const PciDevice& nhi) {
  OwnedPorts owned{{}, Confidence::kMedium, "the controller's own PCIe switch"};
  const auto* above = nhi.parent ? pci.find(*nhi.parent) : nullptr;
  if (above == nullptr || !above->parent) {
    return owned;
  }
  for (const auto* port : pci.children(*above->parent)) {
    const auto below = pci.children(port->address);
    const bool leads_to_function =
        std::any_of(below.begin(), below.end(), [](const auto* function) {
          return !function->is_bridge() && !function->is_display();
        });
    if (port->is_bridge() && port->address != above->address &&
        !leads_to_function) {
      owned.ports.insert(port->address);
    }
  }
  return owned;
}

// Intel's built-in controllers 00:0d.2 and 00:0d.3 own 00:07.0-1 and 00:07.2-3
// (intel/tbtools, scripts/pcie-downstream-mapping.sh).
OwnedPorts ports_by_intel_address(const PciTree& pci, const PciDevice& nhi) {
  OwnedPorts owned{
      {}, Confidence::kMedium, "Intel's usual addresses, no device links"};
  const bool built_in = nhi.vendor_id == 0x8086 && !nhi.parent &&
      nhi.address.bus == 0 && nhi.address.slot == 0x0d &&
      (nhi.address.function == 2 || nhi.address.function == 3);
  if (!built_in) {
    return owned;
  }
  const int first = nhi.address.function == 2 ? 0 : 2;
  for (int function = first; function < first + 2; ++function) {
    const PciAddress port{
        nhi.address.pci_domain, 0, 7, static_cast<std::uint8_t>(function)};
    if (is_bridge(pci, port)) {
      owned.ports.insert(port);
    }
  }
  return owned;
}

OwnedPorts find_owned_ports(const PciTree& pci, const PciDevice& nhi) {
  for (const auto& rule :
       {ports_by_device_link, ports_by_ancestry, ports_by_intel_address}) {
    auto owned = rule(pci, nhi);
    if (!owned.ports.empty()) {
      return owned;
    }
  }
  return {};
}

std::set<PciAddress> find_controllers(
    const PciTree& pci,
    const ThunderboltTree& thunderbolt) {
  std::set<PciAddress> controllers;
  for (const auto& [address, function] : pci.devices()) {
    if (function.class_code == kClassUsb4Host) {
      controllers.insert(address);
    }
  }
  for (const auto& domain : thunderbolt.domains) {
    if (domain.nhi && pci.find(*domain.nhi) != nullptr) {
      controllers.insert(*domain.nhi);
    }
  }
  return controllers;
}

std::vector<const ThunderboltRouter*> routers_where(
    const ThunderboltTree& thunderbolt,
    auto condition) {
  std::vector<const ThunderboltRouter*> result;
  for (const auto& router : thunderbolt.routers) {
    if (router.route.depth() > 0 && condition(router.route)) {
      result.push_back(&router);
    }
  }
  return result;
}

RouterMapping mapping_of(
    const ThunderboltRouter& router,
    Confidence confidence,
    const std::string& reason) {
  if (router.authorized == 0) {
    return {
        router.route,
        Confidence::kLow,
        reason + ", but that router is not authorised"};
  }
  return {router.route, confidence, reason};
}

// The kernel did not say which controller the port belongs to.
std::optional<RouterMapping> map_without_domain(
    int depth,
    const ThunderboltTree& thunderbolt) {
  const auto same_depth = routers_where(
      thunderbolt,
      [&](const ThunderboltRoute& route) { return route.depth() == depth; });
  if (same_depth.size() != 1) {
    return std::nullopt;
  }
  return mapping_of(
      *same_depth[0], Confidence::kLow, "the only router at that depth");
}

// The router behind `depth` cables in a row on that port.
std::optional<RouterMapping> map_on_port(
    const TunnelPort& port,
    int depth,
    const ThunderboltTree& thunderbolt) {
  const auto on_port =
      routers_where(thunderbolt, [&](const ThunderboltRoute& route) {
        return route.thunderbolt_domain == *port.thunderbolt_domain &&
            (route.first_hop() - 1) / 2 == port.order;
      });
  const ThunderboltRouter* deepest = nullptr;
  int at_depth = 0;
  for (const auto* router : on_port) {
    const int cables = router->route.depth();
    if (cables <= depth &&
        (deepest == nullptr || cables >= deepest->route.depth())) {
      deepest = router;
    }
    at_depth += cables == depth ? 1 : 0;
  }
  if (deepest == nullptr || at_depth > 1) {
    return std::nullopt;
  }
  return at_depth == 1
      ? mapping_of(*deepest, port.confidence, port.reason)
      : mapping_of(
            *deepest,
            Confidence::kLow,
            "PCI shows more cables in a row than Thunderbolt does");
}

} // namespace

const TunnelPort* TunnelPorts::find(const PciAddress& port) const {
  const auto found =
      std::find_if(ports.begin(), ports.end(), [&](const TunnelPort& entry) {
        return entry.port == port;
      });
  return found == ports.end() ? nullptr : &*found;
}

TunnelPorts find_tunnel_ports(
    const PciTree& pci,
    const ThunderboltTree& thunderbolt) {
  TunnelPorts result;
  for (const auto& address : find_controllers(pci, thunderbolt)) {
    const auto& nhi = *pci.find(address);
    std::optional<std::uint32_t> number;
    for (const auto& domain : thunderbolt.domains) {
      if (domain.nhi == address) {
        number = domain.thunderbolt_domain;
      }
    }
    const auto owned = find_owned_ports(pci, nhi);
    int order = 0;
    for (const auto& port : owned.ports) {
      result.ports.push_back(
          {port, address, number, order++, owned.confidence, owned.reason});
    }
    for (const auto* bridge : pci.chain(address)) {
      if (bridge->address != address) {
        result.controller_bridges.insert(bridge->address);
      }
    }
  }
  return result;
}

std::optional<RouterMapping> map_router(
    const std::vector<LinkHop>& path,
    const TunnelPorts& tunnel_ports,
    const ThunderboltTree& thunderbolt) {
  const auto is_tunnel = [](const LinkHop& hop) {
    return hop.kind == HopKind::kTunnel;
  };
  const auto first = std::find_if(path.begin(), path.end(), is_tunnel);
  if (first == path.end()) {
    return std::nullopt;
  }
  const auto depth =
      static_cast<int>(std::count_if(path.begin(), path.end(), is_tunnel));
  const auto* port = tunnel_ports.find(first->upper);
  return port == nullptr || !port->thunderbolt_domain
      ? map_without_domain(depth, thunderbolt)
      : map_on_port(*port, depth, thunderbolt);
}

} // namespace egpurun::topology
