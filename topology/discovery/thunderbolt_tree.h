#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topology/ids.h"
#include "topology/sysfs/sysfs_tree.h"

namespace egpurun::topology {

// A Thunderbolt/USB4 host controller. Attributes: kernel ABI text
// sysfs-bus-thunderbolt; all of them are optional.
struct ThunderboltDomain {
  std::uint32_t thunderbolt_domain = 0;
  std::optional<PciAddress> nhi; // PCI function of the controller
  // "none", "user", "secure"; "nopcie", "dponly", "usbonly" = no eGPU possible
  std::optional<std::string> security;
  std::optional<bool> iommu_protection;
};

// One cable's raw signalling. Displays, USB and PCIe share it, and it is not
// what a GPU gets: that is measured only.
struct ThunderboltCable {
  std::optional<double> rx_gigabits_per_lane;
  std::optional<double> tx_gigabits_per_lane;
  std::optional<int> rx_lanes; // 1, 2 bonded; 3 on one side if asymmetric
  std::optional<int> tx_lanes;
};

// A Thunderbolt device: the host's own router (depth 0), a dock, a GPU box.
struct ThunderboltRouter {
  ThunderboltRoute route;
  std::string vendor_name; // empty if the firmware has none
  std::string device_name;
  std::optional<int> generation; // 1-3 Thunderbolt, 4 USB4 (TB4 and TB5 alike)
  std::optional<int> authorized; // 0 no, 1 yes, 2 yes with a key
  std::optional<bool> boot; // connected by firmware before the kernel ran
  ThunderboltCable cable; // the one towards the host
};

// Another PC at the far end of a Thunderbolt cable.
struct ThunderboltPeer {
  ThunderboltRoute route;
  std::string vendor_name;
  std::string device_name; // usually the other PC's host name
  ThunderboltCable cable;
};

struct ThunderboltTree {
  std::vector<ThunderboltDomain> domains;
  std::vector<ThunderboltRouter> routers; // sorted by route
  std::vector<ThunderboltPeer> peers;
};

// Empty if the kernel has no Thunderbolt bus.
ThunderboltTree read_thunderbolt_tree(const SysfsTree& tree);

// "20.0 Gb/s" and "20 Gb/s" -> 20.
std::optional<double> parse_lane_speed(const std::string& text);

} // namespace egpurun::topology
