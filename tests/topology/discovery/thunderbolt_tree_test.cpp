#include "topology/discovery/thunderbolt_tree.h"

#include <gtest/gtest.h>

#include "tests/topology/scratch_machine.h"

namespace egpurun::topology {
namespace {

const std::string kNhi = "sys/devices/pci0000:00/0000:00:0d.2";

void add_object(
    const ScratchMachine& machine,
    const std::string& path,
    const std::string& name) {
  machine.link("sys/bus/thunderbolt/devices/" + name, path);
}

TEST(ThunderboltTreeTest, ReadsADaisyChain) {
  const auto tree =
      read_thunderbolt_tree(SysfsTree(recorded_machine("one_link_two_gpus")));
  ASSERT_EQ(tree.domains.size(), 2u);
  EXPECT_EQ(tree.domains[0].nhi, PciAddress::parse("0000:00:0d.2"));
  EXPECT_EQ(tree.domains[0].security, "user");
  ASSERT_EQ(tree.routers.size(), 4u);
  const auto& box = tree.routers[2];
  EXPECT_EQ(box.route.to_string(), "0-301");
  EXPECT_EQ(box.route.depth(), 2);
  EXPECT_EQ(box.device_name, "GPU BOX B");
  EXPECT_EQ(box.generation, 3);
  EXPECT_EQ(box.authorized, 1);
  EXPECT_EQ(box.cable.rx_lanes, 2);
  EXPECT_EQ(box.cable.rx_gigabits_per_lane, 20);
  EXPECT_TRUE(tree.peers.empty());
}

TEST(ThunderboltTreeTest, AnotherPcIsAPeerNotARouter) {
  ScratchMachine machine;
  const std::string host = kNhi + "/domain0/0-0";
  machine.write(host + "/0-1/maxhopid", "15");
  machine.write(host + "/0-1/device_name", "peerhost");
  machine.write(host + "/0-1/rx_speed", "10.0 Gb/s");
  machine.write(host + "/0-1/rx_lanes", "1");
  machine.write(host + "/0-1/0-1.0/key", "network");
  machine.write(host + "/0-3/uevent", "DEVTYPE=thunderbolt_xdomain\nX=1");
  for (const std::string name : {"0-1", "0-3"}) {
    add_object(machine, host + "/" + name, name);
  }
  add_object(machine, host, "0-0");
  add_object(machine, host + "/0-1/0-1.0", "0-1.0");
  add_object(machine, kNhi + "/domain0", "domain0");
  const auto tree = read_thunderbolt_tree(SysfsTree(machine.folder()));
  ASSERT_EQ(tree.peers.size(), 2u);
  EXPECT_EQ(tree.peers[0].device_name, "peerhost");
  EXPECT_EQ(tree.peers[0].cable.rx_lanes, 1);
  ASSERT_EQ(tree.routers.size(), 1u);
  EXPECT_EQ(tree.routers[0].route.depth(), 0);
}

TEST(ThunderboltTreeTest, HexadecimalNamesAndMissingAttributes) {
  ScratchMachine machine;
  const std::string router = kNhi + "/domain0/0-0/0-d";
  machine.write(router + "/authorized", "garbage");
  machine.write(router + "/rx_speed", "20 Gb/s");
  machine.write(router + "/rx_lanes", "-2");
  machine.write(router + "/vendor_name", "\033[31mBox");
  machine.write("errors.json", "{\"" + router + "/key\": \"EACCES\"}");
  add_object(machine, router, "0-d");
  add_object(machine, router, "0-1.0");
  add_object(machine, router, "0-0:1.1");
  add_object(machine, router, "domainX");
  const auto tree = read_thunderbolt_tree(SysfsTree(machine.folder()));
  ASSERT_EQ(tree.routers.size(), 1u);
  const auto& box = tree.routers[0];
  EXPECT_EQ(box.route.first_hop(), 0xd);
  EXPECT_FALSE(box.authorized);
  EXPECT_FALSE(box.generation);
  EXPECT_FALSE(box.cable.rx_lanes);
  EXPECT_EQ(box.cable.rx_gigabits_per_lane, 20);
  EXPECT_EQ(box.vendor_name, "?[31mBox");
}

TEST(ThunderboltTreeTest, NoBusIsNoError) {
  ScratchMachine machine;
  const auto tree = read_thunderbolt_tree(SysfsTree(machine.folder()));
  EXPECT_TRUE(tree.domains.empty());
  EXPECT_TRUE(tree.routers.empty());
}

} // namespace
} // namespace egpurun::topology
