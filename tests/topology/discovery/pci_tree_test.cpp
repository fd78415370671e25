#include "topology/discovery/pci_tree.h"

#include <gtest/gtest.h>

#include "tests/topology/scratch_machine.h"

namespace egpurun::topology {
namespace {

PciAddress at(const char* text) {
  return PciAddress::parse(text).value();
}

TEST(PciTreeTest, ReadsARecordedMachine) {
  const SysfsTree files(recorded_machine("tb4_rtx5090"));
  const auto tree = read_pci_tree(files);
  const auto* gpu = tree.find(at("0000:04:00.0"));
  ASSERT_NE(gpu, nullptr);
  EXPECT_TRUE(gpu->is_display());
  EXPECT_FALSE(gpu->is_bridge());
  EXPECT_EQ(gpu->parent, at("0000:03:00.0"));
  EXPECT_EQ(gpu->driver, "nvidia");
  EXPECT_EQ(gpu->removable, "removable");
  EXPECT_EQ(gpu->link.current_gigatransfers, 2.5);
  EXPECT_EQ(gpu->link.max_gigatransfers, 32);
  EXPECT_EQ(gpu->link.max_lanes, 16);
  EXPECT_FALSE(gpu->numa_index);
  ASSERT_EQ(gpu->bars.size(), 3u);
  EXPECT_EQ(gpu->bars[1].size, Bytes{32ull << 30});
  EXPECT_TRUE(gpu->bars[1].prefetchable);
  EXPECT_FALSE(gpu->bars[0].prefetchable);
}

TEST(PciTreeTest, ChainsRunFromTheRootPort) {
  const auto tree =
      read_pci_tree(SysfsTree(recorded_machine("one_link_two_gpus")));
  std::vector<std::string> names;
  for (const auto* function : tree.chain(at("0000:07:00.0"))) {
    names.push_back(function->address.to_string());
  }
  EXPECT_EQ(
      names,
      (std::vector<std::string>{
          "0000:00:07.0",
          "0000:02:00.0",
          "0000:03:01.0",
          "0000:05:00.0",
          "0000:06:01.0",
          "0000:07:00.0"}));
  EXPECT_EQ(tree.children(at("0000:02:00.0")).size(), 2u);
  EXPECT_TRUE(tree.chain(at("0000:99:00.0")).empty());
}

TEST(PciTreeTest, DeviceLinksGoBothWays) {
  const auto tree = read_pci_tree(SysfsTree(recorded_machine("tb4_rtx5090")));
  EXPECT_EQ(
      tree.find(at("0000:00:0d.2"))->consumers,
      std::vector{at("0000:00:07.0")});
  EXPECT_EQ(
      tree.find(at("0000:00:07.2"))->suppliers,
      std::vector{at("0000:00:0d.3")});
}

TEST(PciTreeTest, UnreadableAttributesAreKeptAsFacts) {
  ScratchMachine machine;
  const std::string path = "sys/devices/pci0000:00/0000:00:01.0";
  machine.write(path + "/vendor", "0x10de");
  machine.write(path + "/current_link_speed", "x");
  machine.write(
      "errors.json", "{\"" + path + "/current_link_speed\": \"EINVAL\"}");
  machine.link("sys/bus/pci/devices/0000:00:01.0", path);
  machine.link("sys/bus/pci/devices/nonsense", path);
  machine.link("sys/bus/pci/devices/0000:00:02.0", "sys/devices/gone/x");
  const auto tree = read_pci_tree(SysfsTree(machine.folder()));
  ASSERT_EQ(tree.devices().size(), 1u);
  const auto& function = tree.devices().begin()->second;
  EXPECT_EQ(function.vendor_id, 0x10deu);
  EXPECT_EQ(function.class_code, 0u);
  EXPECT_FALSE(function.link.current_gigatransfers);
  ASSERT_EQ(function.errors.size(), 1u);
  EXPECT_EQ(function.errors[0].attribute, "current_link_speed");
  EXPECT_EQ(function.errors[0].error, "EINVAL");
}

TEST(PciTreeTest, NoPciBusIsNoError) {
  ScratchMachine machine;
  EXPECT_TRUE(read_pci_tree(SysfsTree(machine.folder())).devices().empty());
}

TEST(PciTreeTest, BarsKeepUnassignedOnes) {
  const auto bars = parse_bars(
      "0x0000000050000000 0x0000000053ffffff 0x0000000000040200\n"
      "0x0000000000000000 0x0000000000000000 0x000000000014220c\n"
      "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
      "garbage here\n"
      "0x0000000000003000 0x000000000000307f 0x0000000000040101\n");
  ASSERT_EQ(bars.size(), 2u);
  EXPECT_EQ(bars[0].size, Bytes{64 << 20});
  EXPECT_EQ(bars[1].index, 1);
  EXPECT_EQ(bars[1].size, Bytes{0});
  EXPECT_TRUE(parse_bars("").empty());
}

TEST(PciTreeTest, LinkSpeeds) {
  EXPECT_EQ(parse_link_speed("16.0 GT/s PCIe"), 16);
  EXPECT_EQ(parse_link_speed("2.5 GT/s"), 2.5);
  EXPECT_FALSE(parse_link_speed("Unknown"));
}

} // namespace
} // namespace egpurun::topology
