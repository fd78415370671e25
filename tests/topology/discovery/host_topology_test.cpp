#include "topology/discovery/host_topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/topology/discovery/machine_builder.h"
#include "tests/topology/scratch_machine.h"
#include "topology/discovery/discover.h"

namespace egpurun::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(HostTopologyTest, HealthyBox) {
  const auto topology = discover_host(recorded_machine("tb4_rtx5090"));
  ASSERT_EQ(topology.gpus.size(), 2u);
  const auto& integrated = topology.gpus[0];
  EXPECT_EQ(integrated.attachment, GpuAttachment::kIntegrated);
  EXPECT_FALSE(integrated.trainable);
  EXPECT_FALSE(integrated.link_group);
  const auto& gpu = topology.gpus[1];
  EXPECT_EQ(gpu.model, "NVIDIA GeForce RTX 5090");
  EXPECT_EQ(gpu.attachment, GpuAttachment::kThunderbolt);
  EXPECT_TRUE(gpu.trainable);
  EXPECT_EQ(gpu.router->route.to_string(), "0-1");
  EXPECT_EQ(gpu.router->confidence, Confidence::kHigh);
  EXPECT_THAT(kinds(gpu), ElementsAre(kTunnel, kInternal, kPcie));
  EXPECT_EQ(gpu.path[2].link.max_gigatransfers, 16);
  EXPECT_EQ(gpu.path[2].link.max_lanes, 4);
  EXPECT_DOUBLE_EQ(gpu.measured->to_gpu->value, 2.84);
  EXPECT_EQ(gpu.uuid->value, "GPU-11111111-0000-0000-0000-000000000001");
}

TEST(HostTopologyTest, TwoBoxesOnOneCableShareALink) {
  const auto topology = discover_host(recorded_machine("one_link_two_gpus"));
  ASSERT_EQ(topology.gpus.size(), 3u);
  EXPECT_THAT(
      kinds(topology.gpus[2]),
      ElementsAre(kTunnel, kInternal, kTunnel, kInternal, kPcie));
  EXPECT_EQ(topology.gpus[1].router->route.to_string(), "0-1");
  EXPECT_EQ(topology.gpus[2].router->route.to_string(), "0-301");
  ASSERT_EQ(topology.link_groups.size(), 1u);
  EXPECT_EQ(topology.link_groups[0].port, at("0000:00:07.0"));
  EXPECT_THAT(
      topology.link_groups[0].gpus,
      ElementsAre(at("0000:04:00.0"), at("0000:07:00.0")));
  EXPECT_EQ(topology.gpus[1].link_group, topology.gpus[2].link_group);
}

TEST(HostTopologyTest, NoRateIsEverKnownOfATunnel) {
  for (const char* name : {"tb4_rtx5090", "one_link_two_gpus"}) {
    for (const auto& gpu : discover_host(recorded_machine(name)).gpus) {
      for (const auto& hop : gpu.path) {
        const bool has_rate = hop.link.max_gigatransfers ||
            hop.link.current_gigatransfers || hop.link.max_lanes ||
            hop.link.current_lanes;
        EXPECT_TRUE(hop.kind == kPcie || !has_rate) << gpu.address.to_string();
      }
    }
  }
}

TEST(HostTopologyTest, LostGpuIsNotTrainable) {
  ScratchMachine machine;
  machine.copy_from(recorded_machine("tb4_rtx5090"));
  const std::string gpu = "sys/bus/pci/devices/0000:04:00.0/";
  machine.write(
      "errors.json",
      "{\"" + gpu + "current_link_speed\": \"EINVAL\", \"" + gpu +
          "current_link_width\": \"EINVAL\"}");
  machine.write(gpu + "max_link_width", "255");
  const auto topology = discover_host(machine.folder());
  ASSERT_EQ(topology.gpus.size(), 2u);
  EXPECT_FALSE(topology.gpus[1].trainable);
  EXPECT_THAT(topology.gpus[1].not_trainable_reason, HasSubstr("lost"));
  EXPECT_EQ(topology.gpus[1].errors.size(), 2u);
  EXPECT_EQ(topology.gpus[1].path[2].link.max_lanes, 4);
}

TEST(HostTopologyTest, UnassignedBarAndWrongDriver) {
  auto unassigned =
      function("0000:01:00.0", "0000:00:01.0", 0x10de, 0x2204, 0x030000);
  unassigned.bars = {{1, Bytes{0}, true}};
  auto nouveau =
      function("0000:02:00.0", "0000:00:02.0", 0x10de, 0x2204, 0x030200);
  nouveau.driver = "nouveau";
  auto unbound = nouveau;
  unbound.address = at("0000:03:00.0");
  unbound.driver.reset();
  const auto gpus = join({unassigned, nouveau, unbound}).gpus;
  ASSERT_EQ(gpus.size(), 3u);
  EXPECT_THAT(gpus[0].not_trainable_reason, HasSubstr("BAR1"));
  EXPECT_THAT(gpus[1].not_trainable_reason, HasSubstr("nouveau"));
  EXPECT_THAT(gpus[2].not_trainable_reason, HasSubstr("no driver"));
}

TEST(HostTopologyTest, NvmlDecidesWhenItWasAsked) {
  HostParts parts;
  parts.pci = PciTree({function("0000:01:00.0", "", 0x10de, 0x2204, 0x030000)});
  EXPECT_TRUE(join_host_topology(parts).gpus[0].trainable);
  parts.nvml = NvmlFacts{};
  EXPECT_THAT(
      join_host_topology(parts).gpus[0].not_trainable_reason,
      HasSubstr("does not list"));
  parts.nvml->init_error = "NVML_ERROR_DRIVER_NOT_LOADED";
  EXPECT_THAT(
      join_host_topology(parts).gpus[0].not_trainable_reason,
      HasSubstr("NVML_ERROR_DRIVER_NOT_LOADED"));
}

TEST(HostTopologyTest, LaptopGpuNeedsItsName) {
  HostFacts laptop;
  laptop.is_laptop = true;
  const auto gpus =
      join(
          {function(
               "0000:02:00.0", "0000:00:1d.0", 0x10de, 0x1f91, 0x030200, 8, 4),
           function(
               "0000:03:00.0", "0000:00:1d.4", 0x10de, 0x2204, 0x030000, 8, 4)},
          {},
          laptop)
          .gpus;
  EXPECT_EQ(gpus[0].attachment, GpuAttachment::kLaptopDiscrete);
  EXPECT_EQ(gpus[1].attachment, GpuAttachment::kSlot);
}

TEST(HostTopologyTest, VirtualMachineCardOnARootBus) {
  const auto topology = join(
      {function("0000:00:05.0", "", 0x10de, 0x2684, 0x030200),
       function("0000:00:06.0", "", 0x1af4, 0x1050, 0x030000)});
  ASSERT_EQ(topology.gpus.size(), 1u);
  EXPECT_EQ(topology.gpus[0].attachment, GpuAttachment::kSlot);
  EXPECT_TRUE(topology.gpus[0].path.empty());
  EXPECT_EQ(topology.link_groups.at(0).port, at("0000:00:05.0"));
}

} // namespace
} // namespace egpurun::topology
