#include "topology/discovery/network_interfaces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/topology/scratch_machine.h"

namespace egpurun::topology {
namespace {

using testing::Contains;

std::map<std::string, NetworkInterface> by_name(const SysfsTree& tree) {
  std::map<std::string, NetworkInterface> result;
  for (const auto& interface : read_network_interfaces(tree)) {
    result[interface.name] = interface;
  }
  return result;
}

TEST(NetworkInterfacesTest, ReadsARecordedMachine) {
  auto found = by_name(SysfsTree(recorded_machine("tb4_rtx5090")));
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found["lo"].kind, NetworkKind::kLoopback);
  EXPECT_FALSE(found["lo"].mac);
  EXPECT_EQ(found["docker0"].kind, NetworkKind::kBridge);
  EXPECT_EQ(found["wlp0s20f3"].kind, NetworkKind::kWifi);
  EXPECT_FALSE(found["wlp0s20f3"].up);
  const auto& wired = found["enp44s0"];
  EXPECT_EQ(wired.kind, NetworkKind::kEthernet);
  EXPECT_TRUE(wired.up);
  EXPECT_EQ(wired.speed_megabits, 2500);
  EXPECT_EQ(wired.driver, "igc");
  EXPECT_EQ(wired.mac, "02:00:00:00:00:01");
  EXPECT_EQ(wired.pci_address, PciAddress::parse("0000:2c:00.0"));
  EXPECT_TRUE(wired.addresses.empty());
}

TEST(NetworkInterfacesTest, ThunderboltCableLeadsToAPeer) {
  ScratchMachine machine;
  const std::string service =
      "sys/devices/pci0000:00/0000:00:0d.2/domain0/0-0/0-1/0-1.0";
  machine.write(service + "/net/thunderbolt0/type", "1");
  machine.write(service + "/net/thunderbolt0/operstate", "unknown");
  machine.write(service + "/net/thunderbolt0/carrier", "1");
  machine.write(service + "/net/thunderbolt0/speed", "-1");
  machine.link(service + "/net/thunderbolt0/device", service);
  machine.write("sys/bus/thunderbolt/drivers/thunderbolt-net/x", "");
  machine.link(
      service + "/driver", "sys/bus/thunderbolt/drivers/thunderbolt-net");
  machine.link("sys/class/net/thunderbolt0", service + "/net/thunderbolt0");
  const auto found = read_network_interfaces(SysfsTree(machine.folder()));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, NetworkKind::kThunderbolt);
  EXPECT_TRUE(found[0].up);
  EXPECT_FALSE(found[0].speed_megabits);
  EXPECT_EQ(found[0].peer, ThunderboltRoute::parse("0-1"));
}

TEST(NetworkInterfacesTest, VirtualAndBrokenOnes) {
  ScratchMachine machine;
  machine.write("sys/devices/virtual/net/veth0/type", "1");
  machine.link("sys/class/net/veth0", "sys/devices/virtual/net/veth0");
  machine.write("sys/class/net/bonding_masters", "");
  machine.write("sys/class/net/odd/type", "garbage");
  auto found = by_name(SysfsTree(machine.folder()));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found["veth0"].kind, NetworkKind::kVirtual);
  EXPECT_FALSE(found["veth0"].up);
  EXPECT_EQ(found["odd"].kind, NetworkKind::kOther);
}

TEST(NetworkInterfacesTest, LiveLoopbackHasItsAddress) {
  if (!std::filesystem::exists("/sys/class/net/lo")) {
    GTEST_SKIP() << "no /sys/class/net/lo on this machine";
  }
  auto interfaces = read_network_interfaces(SysfsTree("/"));
  add_live_addresses(interfaces);
  for (const auto& interface : interfaces) {
    if (interface.name == "lo" && !interface.addresses.empty()) {
      EXPECT_THAT(interface.addresses, Contains("127.0.0.1/8"));
      return;
    }
  }
  GTEST_SKIP() << "the loopback interface has no address here";
}

} // namespace
} // namespace egpurun::topology
