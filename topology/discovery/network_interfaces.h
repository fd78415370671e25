#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "topology/ids.h"
#include "topology/json_fields.h"
#include "topology/sysfs/sysfs_tree.h"

namespace egpurun::topology {

enum class NetworkKind {
  kEthernet,
  kWifi,
  kThunderbolt, // a Thunderbolt cable to another PC
  kBridge,
  kVirtual, // veth, tun, docker and the like: no hardware of its own
  kLoopback,
  kOther
};
std::span<const EnumName<NetworkKind>> enum_names(NetworkKind);

struct NetworkInterface {
  std::string name;
  NetworkKind kind = NetworkKind::kOther;
  bool up = false; // operational state; "unknown" counts if a carrier is there
  // Of the local link partner, as the driver claims; not a measurement.
  std::optional<int> speed_megabits;
  std::optional<int> mtu;
  std::optional<std::string> driver;
  std::optional<std::string> mac;
  std::vector<std::string> addresses; // "192.168.1.5/24"; live machines only
  std::optional<PciAddress> pci_address; // of the card; none for USB
  std::optional<ThunderboltRoute> peer; // kThunderbolt: whom the cable reaches
};

// Sorted by name; addresses are added by add_live_addresses only.
std::vector<NetworkInterface> read_network_interfaces(const SysfsTree& tree);

// Asks the kernel for the addresses of this process's network namespace.
void add_live_addresses(std::vector<NetworkInterface>& interfaces);

} // namespace egpurun::topology
