#include "topology/discovery/tunnel_ports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/topology/discovery/machine_builder.h"
#include "tests/topology/scratch_machine.h"
#include "topology/discovery/discover.h"

namespace egpurun::topology {
namespace {

using testing::ElementsAre;

// An AMD card in a Titan Ridge dock on an AMD laptop whose kernel gives no
// device links; the card's own switch claims 16 GT/s x16.
TEST(TunnelPortsTest, AmdCardBehindAnAmdHost) {
  ThunderboltTree thunderbolt;
  thunderbolt.domains = {domain(1, "0000:c3:00.6")};
  thunderbolt.routers = {router("1-0"), router("1-2")};
  const auto topology = join(
      {function("0000:00:04.1", "", 0x1022, 0x14ef, 0x060400, 2.5, 1),
       function("0000:64:00.0", "0000:00:04.1", 0x8086, 0x15ef, 0x060400, 8, 4),
       function("0000:65:01.0", "0000:64:00.0", 0x8086, 0x15ef, 0x060400, 8, 4),
       function(
           "0000:66:00.0", "0000:65:01.0", 0x1002, 0x1478, 0x060400, 16, 16),
       function(
           "0000:67:00.0", "0000:66:00.0", 0x1002, 0x1479, 0x060400, 16, 16),
       function(
           "0000:68:00.0", "0000:67:00.0", 0x1002, 0x731f, 0x030000, 16, 16),
       function("0000:00:08.1", "", 0x1022, 0x14eb, 0x060400, 16, 16),
       function(
           "0000:c1:00.0", "0000:00:08.1", 0x1002, 0x15bf, 0x030000, 16, 16),
       function("0000:c1:00.2", "0000:00:08.1", 0x1022, 0x15c7, 0x108000)},
      thunderbolt);
  ASSERT_EQ(topology.gpus.size(), 2u);
  const auto& card = topology.gpus[0];
  EXPECT_EQ(card.attachment, GpuAttachment::kThunderbolt);
  EXPECT_THAT(
      kinds(card),
      ElementsAre(kTunnel, kInternal, kPcie, kInternal, kInternal));
  EXPECT_EQ(card.path[2].link.max_gigatransfers, 8);
  EXPECT_EQ(card.path[2].link.max_lanes, 4);
  EXPECT_EQ(card.router->route.to_string(), "1-2");
  EXPECT_EQ(card.router->confidence, Confidence::kLow);
  EXPECT_FALSE(card.trainable);
  EXPECT_EQ(topology.gpus[1].attachment, GpuAttachment::kIntegrated);
}

// Two boxes on two controllers of one PC, no device links: Intel's addresses.
TEST(TunnelPortsTest, BoxesOnTwoControllersShareNothing) {
  ThunderboltTree thunderbolt;
  thunderbolt.domains = {domain(0, "0000:00:0d.2"), domain(1, "0000:00:0d.3")};
  thunderbolt.routers = {router("0-1"), router("1-1")};
  const auto topology = join(
      {function("0000:00:07.0", "", 0x8086, 0x9a23, 0x060400, 2.5, 4),
       function("0000:00:07.2", "", 0x8086, 0x9a27, 0x060400, 2.5, 4),
       function("0000:00:0d.2", "", 0x8086, 0x9a1b, 0x0c0340),
       function("0000:00:0d.3", "", 0x8086, 0x9a1d, 0x0c0340),
       function("0000:03:00.0", "0000:00:07.0", 0x8086, 0x15d3, 0x060400, 8, 4),
       function("0000:04:01.0", "0000:03:00.0", 0x8086, 0x15d3, 0x060400, 8, 4),
       function(
           "0000:05:00.0", "0000:04:01.0", 0x10de, 0x2204, 0x030000, 16, 16),
       function("0000:2c:00.0", "0000:00:07.2", 0x8086, 0x15d3, 0x060400, 8, 4),
       function("0000:2d:01.0", "0000:2c:00.0", 0x8086, 0x15d3, 0x060400, 8, 4),
       function(
           "0000:2e:00.0", "0000:2d:01.0", 0x10de, 0x2231, 0x030000, 16, 16)},
      thunderbolt);
  ASSERT_EQ(topology.gpus.size(), 2u);
  EXPECT_EQ(topology.gpus[0].router->route.to_string(), "0-1");
  EXPECT_EQ(topology.gpus[1].router->route.to_string(), "1-1");
  EXPECT_EQ(topology.gpus[1].router->confidence, Confidence::kMedium);
  EXPECT_EQ(topology.link_groups.size(), 2u);
  EXPECT_NE(topology.gpus[0].link_group, topology.gpus[1].link_group);
}

// A plug-in controller is a switch with a dock's ids; it is no box itself.
TEST(TunnelPortsTest, PlugInController) {
  ThunderboltTree thunderbolt;
  thunderbolt.domains = {domain(0, "0000:03:00.0")};
  thunderbolt.routers = {router("0-0"), router("0-1"), router("0-3")};
  const auto topology = join(
      {function("0000:00:1c.0", "", 0x8086, 0xa33c, 0x060400, 8, 4),
       function("0000:01:00.0", "0000:00:1c.0", 0x8086, 0x15ea, 0x060400, 8, 4),
       function(
           "0000:02:00.0", "0000:01:00.0", 0x8086, 0x15ea, 0x060400, 2.5, 4),
       function(
           "0000:02:01.0", "0000:01:00.0", 0x8086, 0x15ea, 0x060400, 2.5, 4),
       function(
           "0000:02:02.0", "0000:01:00.0", 0x8086, 0x15ea, 0x060400, 2.5, 4),
       function(
           "0000:02:04.0", "0000:01:00.0", 0x8086, 0x15ea, 0x060400, 2.5, 4),
       function("0000:03:00.0", "0000:02:00.0", 0x8086, 0x15eb, 0x088000),
       function("0000:3a:00.0", "0000:02:02.0", 0x8086, 0x15ec, 0x0c0330),
       function(
           "0000:3b:00.0", "0000:02:04.0", 0x8086, 0x15d3, 0x060400, 2.5, 4),
       function("0000:3c:01.0", "0000:3b:00.0", 0x8086, 0x15d3, 0x060400, 8, 4),
       function(
           "0000:3d:00.0", "0000:3c:01.0", 0x10de, 0x2204, 0x030000, 16, 16)},
      thunderbolt);
  ASSERT_EQ(topology.gpus.size(), 1u);
  const auto& gpu = topology.gpus[0];
  EXPECT_THAT(
      kinds(gpu), ElementsAre(kPcie, kInternal, kTunnel, kInternal, kPcie));
  EXPECT_EQ(gpu.router->route.to_string(), "0-3");
  EXPECT_EQ(gpu.router->confidence, Confidence::kMedium);
  EXPECT_EQ(topology.link_groups[0].port, at("0000:02:04.0"));
}

TEST(TunnelPortsTest, PciAndRoutersThatDisagreeAreLowConfidence) {
  ScratchMachine machine;
  machine.copy_from(recorded_machine("one_link_two_gpus"));
  std::filesystem::remove(
      machine.folder() / "sys/bus/thunderbolt/devices/0-301");
  const auto topology = discover_host(machine.folder());
  ASSERT_EQ(topology.gpus.size(), 3u);
  EXPECT_EQ(topology.gpus[2].router->route.to_string(), "0-1");
  EXPECT_EQ(topology.gpus[2].router->confidence, Confidence::kLow);
  EXPECT_EQ(topology.gpus[1].router->confidence, Confidence::kHigh);
}

TEST(TunnelPortsTest, RefusedBoxesAreLowConfidence) {
  ScratchMachine machine;
  machine.copy_from(recorded_machine("tb4_rtx5090"));
  machine.write("sys/bus/thunderbolt/devices/0-1/authorized", "0\n");
  const auto topology = discover_host(machine.folder());
  EXPECT_EQ(topology.gpus.at(1).router->confidence, Confidence::kLow);
}

// Two boxes behind one dock: nothing says which of them a card is in.
TEST(TunnelPortsTest, TwoRoutersAtOneDepthAreNotGuessed) {
  ScratchMachine machine;
  machine.copy_from(recorded_machine("one_link_two_gpus"));
  const std::string devices = "sys/bus/thunderbolt/devices/";
  machine.link(devices + "0-501", devices + "0-301");
  const auto topology = discover_host(machine.folder());
  EXPECT_TRUE(topology.gpus.at(1).router);
  EXPECT_FALSE(topology.gpus.at(2).router);
  EXPECT_EQ(topology.gpus.at(2).link_group, topology.gpus.at(1).link_group);
}

} // namespace
} // namespace egpurun::topology
