#include "jobs/plan/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace egpurun::jobs {
namespace {

using testing::Contains;
using testing::HasSubstr;

PlacementGpu make_gpu(
    const std::string& pci,
    const std::string& obstacle = "") {
  PlacementGpu gpu;
  const std::string digits = pci.substr(5, 2);
  gpu.uuid.value = "GPU-" + digits;
  gpu.pci_address = PciAddress::parse(pci).value();
  gpu.name = "card " + digits;
  gpu.unusable_because = obstacle;
  return gpu;
}

PlacementHost make_host(const std::string& name, int slots, bool local) {
  PlacementHost host;
  host.name = name;
  host.slots = slots;
  host.is_local = local;
  host.is_probed = true;
  return host;
}

TEST(Placement, OneRankPerUsableGpuInPciOrder) {
  auto host = make_host("pc1", 0, true);
  host.gpus = {
      make_gpu("0000:3a:00.0"),
      make_gpu("0000:05:00.0", "not authorised"),
      make_gpu("0000:04:00.0")};
  const auto plan = place_ranks({host});
  ASSERT_EQ(plan.hosts.size(), 1u);
  const auto& gpus = plan.hosts[0].gpus;
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[0].uuid.value, "GPU-04");
  EXPECT_EQ(gpus[0].local_rank, 0);
  EXPECT_EQ(gpus[1].uuid.value, "GPU-3a");
  EXPECT_EQ(gpus[1].local_rank, 1);
  EXPECT_THAT(plan.reasons, Contains(HasSubstr("not authorised")));
  EXPECT_EQ(default_ranks(host), 2);
}

TEST(Placement, NumbersHostsAndDaemonsAsOpenMpiDoes) {
  const auto plan = place_ranks(
      {make_host("pc2", 1, false),
       make_host("pc1", 1, true),
       make_host("pc3", 1, false)});
  EXPECT_EQ(plan.hosts[0].daemon, 1);
  EXPECT_EQ(plan.hosts[1].daemon, 0);
  EXPECT_EQ(plan.hosts[2].daemon, 2);
  EXPECT_EQ(plan.hosts[2].index, 2);
}

TEST(Placement, SlotsComeBeforeGpus) {
  auto host = make_host("pc1", 4, true);
  host.gpus = {make_gpu("0000:04:00.0")};
  EXPECT_EQ(default_ranks(host), 4);
  EXPECT_THAT(place_ranks({host}).reasons, Contains(HasSubstr("share")));
}

TEST(Placement, NoGpuMeansOneRankOnTheCpu) {
  const auto host = make_host("pc1", 0, true);
  EXPECT_EQ(default_ranks(host), 1);
  const auto plan = place_ranks({host});
  EXPECT_TRUE(plan.hosts[0].gpus.empty());
  EXPECT_THAT(plan.reasons, Contains(HasSubstr("use the CPU")));
}

TEST(Placement, AnUnprobedHostIsNotCalledGpuLess) {
  auto host = make_host("pc2", 0, false);
  host.is_probed = false;
  EXPECT_THAT(place_ranks({host}).reasons, Contains(HasSubstr("not asked")));
}

TEST(Placement, NoHostsGiveAnEmptyPlan) {
  EXPECT_EQ(place_ranks({}), LaunchPlan{});
}

} // namespace
} // namespace egpurun::jobs
