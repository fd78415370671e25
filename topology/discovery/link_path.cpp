#include "topology/discovery/link_path.h"

#include <algorithm>

#include "topology/discovery/gpu_models.h"

namespace egpurun::topology {
namespace {

constexpr double kTunnelClaim = 2.5; // GT/s; USB4 v2, section 11.2.1

bool claims_tunnel_speed(const PciDevice& port) {
  return port.link.max_gigatransfers == kTunnelClaim;
}

bool is_removable(const PciDevice& function) {
  return function.removable == "removable";
}

// Why the link is a tunnel; empty if it is none. `upper` is not the upstream
// end of a switch.
std::string tunnel_reason(
    const PciDevice& upper,
    const PciDevice& lower,
    const TunnelPorts& tunnel_ports) {
  if (const auto* port = tunnel_ports.find(upper.address)) {
    return "Thunderbolt port of " + port->nhi.to_string();
  }
  if (!lower.is_bridge() ||
      tunnel_ports.controller_bridges.contains(lower.address)) {
    return "";
  }
  if (is_removable(lower) && !is_removable(upper)) {
    return "first removable bridge";
  }
  if (is_dock_bridge(lower.vendor_id, lower.device_id)) {
    return "known id of a Thunderbolt dock";
  }
  if (claims_tunnel_speed(upper) && claims_tunnel_speed(lower)) {
    return "both ends claim the 2.5 GT/s of a tunnel";
  }
  return "";
}

// True if `upper` is the upstream end and `lower` a downstream end of one
// switch. A switch's ends carry the same id; a dock has its upstream end right
// behind the cable.
bool is_inside_switch(
    const PciDevice& upper,
    const PciDevice& lower,
    const LinkHop* above) {
  if (is_amd_card_switch(upper.vendor_id, upper.device_id)) {
    return true;
  }
  if (above == nullptr || above->kind == HopKind::kInternal ||
      !lower.is_bridge()) {
    return false;
  }
  return above->kind == HopKind::kTunnel ||
      (upper.vendor_id == lower.vendor_id &&
       upper.device_id == lower.device_id);
}

template <class T>
std::optional<T> smaller(std::optional<T> a, std::optional<T> b) {
  return a && b ? std::min(*a, *b) : (a ? a : b);
}

// 255 lanes is what all-ones registers read as.
std::optional<int> believable_lanes(std::optional<int> lanes) {
  return lanes && *lanes <= 32 ? lanes : std::nullopt;
}

PciLink shared_link(const PciLink& upper, const PciLink& lower) {
  return {
      smaller(upper.current_gigatransfers, lower.current_gigatransfers),
      smaller(upper.max_gigatransfers, lower.max_gigatransfers),
      smaller(
          believable_lanes(upper.current_lanes),
          believable_lanes(lower.current_lanes)),
      smaller(
          believable_lanes(upper.max_lanes),
          believable_lanes(lower.max_lanes))};
}

LinkHop judge_hop(
    const PciDevice& upper,
    const PciDevice& lower,
    const LinkHop* above,
    const TunnelPorts& tunnel_ports) {
  LinkHop hop;
  hop.upper = upper.address;
  hop.lower = lower.address;
  if (is_inside_switch(upper, lower, above)) {
    hop.kind = HopKind::kInternal;
    return hop;
  }
  hop.reason = tunnel_reason(upper, lower, tunnel_ports);
  if (!hop.reason.empty()) {
    hop.kind = HopKind::kTunnel;
    return hop;
  }
  hop.link = shared_link(upper.link, lower.link);
  return hop;
}

} // namespace

std::vector<LinkHop> find_link_path(
    const std::vector<const PciDevice*>& chain,
    const TunnelPorts& tunnel_ports) {
  std::vector<LinkHop> path;
  for (std::size_t i = 1; i < chain.size(); ++i) {
    const LinkHop* above = path.empty() ? nullptr : &path.back();
    path.push_back(judge_hop(*chain[i - 1], *chain[i], above, tunnel_ports));
  }
  return path;
}

} // namespace egpurun::topology
