#include "topology/discovery/network_interfaces.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if_arp.h>
#include <netinet/in.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <sstream>

#include "topology/sysfs/number_text.h"

namespace egpurun::topology {
namespace {

constexpr EnumName<NetworkKind> kKindNames[] = {
    {NetworkKind::kEthernet, "ethernet"},
    {NetworkKind::kWifi, "wifi"},
    {NetworkKind::kThunderbolt, "thunderbolt"},
    {NetworkKind::kBridge, "bridge"},
    {NetworkKind::kVirtual, "virtual"},
    {NetworkKind::kLoopback, "loopback"},
    {NetworkKind::kOther, "other"},
};

std::optional<int> positive_number(
    const SysfsTree& tree,
    const std::string& path) {
  const auto number = parse_integer(tree.read_text(path).value_or(""));
  return number && *number > 0 && *number <= 10'000'000
      ? std::optional(static_cast<int>(*number))
      : std::nullopt;
}

// The router or PCI function whose folder holds this interface.
template <class Id>
std::optional<Id> holder(const std::string& path) {
  std::optional<Id> last;
  std::istringstream parts(path);
  std::string part;
  while (std::getline(parts, part, '/')) {
    if (const auto id = Id::parse(part)) {
      last = id;
    }
  }
  return last;
}

NetworkKind kind_of(
    const SysfsTree& tree,
    const std::string& folder,
    const std::string& path,
    const NetworkInterface& interface) {
  const auto type = parse_integer(tree.read_text(folder + "type").value_or(""));
  if (type == ARPHRD_LOOPBACK || interface.name == "lo") {
    return NetworkKind::kLoopback;
  }
  if (tree.exists(folder + "bridge")) {
    return NetworkKind::kBridge;
  }
  if (interface.driver == "thunderbolt-net") {
    return NetworkKind::kThunderbolt;
  }
  if (tree.exists(folder + "wireless") || tree.exists(folder + "phy80211")) {
    return NetworkKind::kWifi;
  }
  if (path.starts_with("sys/devices/virtual/")) {
    return NetworkKind::kVirtual;
  }
  return type == ARPHRD_ETHER ? NetworkKind::kEthernet : NetworkKind::kOther;
}

bool is_up(const SysfsTree& tree, const std::string& folder) {
  const auto state = tree.read_text(folder + "operstate").value_or("");
  // Drivers without link detection, and lo, report "unknown" for ever.
  return state == "up" ||
      (state == "unknown" &&
       tree.read_text(folder + "carrier").value_or("") == "1");
}

NetworkInterface read_interface(
    const SysfsTree& tree,
    const std::string& name) {
  const auto folder = "sys/class/net/" + name + "/";
  const auto path = tree.resolve(folder).value_or("");
  NetworkInterface interface;
  interface.name = name;
  const auto driver = tree.read_link(folder + "device/driver");
  if (driver.ok()) {
    interface.driver = last_name(driver.value());
  }
  interface.kind = kind_of(tree, folder, path, interface);
  interface.up = is_up(tree, folder);
  interface.mtu = positive_number(tree, folder + "mtu");
  interface.speed_megabits = positive_number(tree, folder + "speed");
  const auto mac = tree.read_text(folder + "address");
  if (mac.ok() && interface.kind != NetworkKind::kLoopback) {
    interface.mac = mac.value();
  }
  interface.pci_address = holder<PciAddress>(path);
  if (interface.kind == NetworkKind::kThunderbolt) {
    // ".../0-0/0-1/0-1.0/net/thunderbolt0": the last router is the peer.
    interface.peer = holder<ThunderboltRoute>(path);
  }
  return interface;
}

// "192.168.1.5/24"; empty for families other than IP.
std::string address_text(const ifaddrs& entry) {
  if (entry.ifa_addr == nullptr || entry.ifa_netmask == nullptr) {
    return "";
  }
  const int family = entry.ifa_addr->sa_family;
  const auto bytes_of = [&](const sockaddr* address) -> const unsigned char* {
    return family == AF_INET
        ? reinterpret_cast<const unsigned char*>(
              &reinterpret_cast<const sockaddr_in*>(address)->sin_addr)
        : reinterpret_cast<const unsigned char*>(
              &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
  };
  char text[INET6_ADDRSTRLEN] = {};
  if ((family != AF_INET && family != AF_INET6) ||
      inet_ntop(family, bytes_of(entry.ifa_addr), text, sizeof(text)) ==
          nullptr) {
    return "";
  }
  const auto* mask = bytes_of(entry.ifa_netmask);
  int prefix = 0;
  for (int i = 0; i < (family == AF_INET ? 4 : 16); ++i) {
    prefix += std::popcount(mask[i]);
  }
  return std::string(text) + "/" + std::to_string(prefix);
}

} // namespace

std::span<const EnumName<NetworkKind>> enum_names(NetworkKind) {
  return kKindNames;
}

std::vector<NetworkInterface> read_network_interfaces(const SysfsTree& tree) {
  std::vector<NetworkInterface> interfaces;
  for (const auto& name : tree.list("sys/class/net").value_or({})) {
    // Plain files such as bonding_masters are no interfaces.
    if (tree.list("sys/class/net/" + name).ok()) {
      interfaces.push_back(read_interface(tree, name));
    }
  }
  return interfaces;
}

void add_live_addresses(std::vector<NetworkInterface>& interfaces) {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) {
    return;
  }
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(
      first, freeifaddrs);
  for (const ifaddrs* entry = first; entry != nullptr;
       entry = entry->ifa_next) {
    const auto text = address_text(*entry);
    const auto interface = std::find_if(
        interfaces.begin(), interfaces.end(), [&](const auto& candidate) {
          return candidate.name == entry->ifa_name;
        });
    if (!text.empty() && interface != interfaces.end()) {
      interface->addresses.push_back(text);
    }
  }
}

} // namespace egpurun::topology
