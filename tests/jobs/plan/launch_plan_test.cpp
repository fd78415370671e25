#include "jobs/plan/launch_plan.h"

#include <gtest/gtest.h>

#include "jobs/contract/rank_environment.h"
#include "topology/error.h"

namespace egpurun::jobs {
namespace {

PlannedHost make_host(const std::string& name, int index, int daemon) {
  PlannedHost host;
  host.name = name;
  host.index = index;
  host.daemon = daemon;
  host.slots = 2;
  host.address = "10.0.0.1";
  host.environment = {{"HOST_VARIABLE", name}};
  return host;
}

PlannedGpu make_gpu(int local_rank, const std::string& uuid) {
  return {
      local_rank,
      GpuUuid::parse(uuid).value(),
      PciAddress::parse("0000:04:00.0").value(),
      "NVIDIA GeForce RTX 3090"};
}

LaunchPlan make_plan() {
  LaunchPlan plan;
  plan.hosts = {make_host("pc1", 0, 0), make_host("pc2.office.lan", 1, 1)};
  plan.hosts[1].gpus = {
      make_gpu(0, "GPU-11111111-1111-1111-1111-111111111111"),
      make_gpu(1, "GPU-22222222-2222-2222-2222-222222222222")};
  plan.environment = {
      {kMasterAddressVariable, "10.0.0.1"}, {kMasterPortVariable, "29500"}};
  return plan;
}

RankIdentity identity_on(const std::string& host, int local_rank = 0) {
  RankIdentity identity;
  identity.rank = 5;
  identity.world_size = 8;
  identity.local_rank = local_rank;
  identity.local_world_size = 4;
  identity.host_name = host;
  return identity;
}

TEST(LaunchPlan, SurvivesJsonAsOneLine) {
  const auto plan = make_plan();
  const std::string json = format_launch_plan(plan);
  EXPECT_EQ(json.find('\n'), std::string::npos);
  EXPECT_EQ(parse_launch_plan(json), plan);
  EXPECT_EQ(parse_launch_plan(format_launch_plan({})), LaunchPlan{});
}

TEST(LaunchPlan, HostNamesThatAreNoTextSurviveAsQuestionMarks) {
  LaunchPlan plan;
  plan.hosts = {make_host("pc\xff", 0, 0)};
  EXPECT_NO_THROW(parse_launch_plan(format_launch_plan(plan)));
}

TEST(LaunchPlan, OtherTextIsAnError) {
  for (const char* text :
       {"",
        "{",
        "[]",
        "{}",
        R"({"hosts":1,"environment":{}})",
        R"({"hosts":[{"name":"a","index":"b"}],"environment":{}})"}) {
    EXPECT_THROW(parse_launch_plan(text), Error) << text;
  }
}

TEST(LaunchPlan, FindsAHostByNameThenShortNameThenDaemon) {
  const auto plan = make_plan();
  EXPECT_EQ(find_host(plan, identity_on("pc1"))->index, 0);
  EXPECT_EQ(find_host(plan, identity_on("pc2"))->index, 1);
  EXPECT_EQ(find_host(plan, identity_on("pc1.other.lan"))->index, 0);
  EXPECT_EQ(find_host(plan, identity_on("pc3")), nullptr);
  auto identity = identity_on("pc3");
  identity.daemon = 1;
  EXPECT_EQ(find_host(plan, identity)->index, 1);
  identity.daemon = 7;
  EXPECT_EQ(find_host(plan, identity), nullptr);
}

TEST(LaunchPlan, GivesEachRankItsEnvironment) {
  const auto plan = make_plan();
  const auto environment = plan_rank_environment(plan, identity_on("pc2", 1));
  EXPECT_EQ(environment.at("RANK"), "5");
  EXPECT_EQ(environment.at("WORLD_SIZE"), "8");
  EXPECT_EQ(environment.at("LOCAL_RANK"), "1");
  EXPECT_EQ(environment.at("LOCAL_WORLD_SIZE"), "4");
  EXPECT_EQ(environment.at("MASTER_ADDR"), "10.0.0.1");
  EXPECT_EQ(environment.at("EGPU_HOST"), "pc2.office.lan");
  EXPECT_EQ(environment.at("EGPU_HOST_INDEX"), "1");
  EXPECT_EQ(environment.at("HOST_VARIABLE"), "pc2.office.lan");
  EXPECT_EQ(
      environment.at("CUDA_VISIBLE_DEVICES"),
      "GPU-22222222-2222-2222-2222-222222222222");
  EXPECT_EQ(environment.at("CUDA_DEVICE_ORDER"), "PCI_BUS_ID");
}

TEST(LaunchPlan, MoreRanksThanGpusShareThemInTurn) {
  const auto plan = make_plan();
  for (int local_rank = 0; local_rank < 4; ++local_rank) {
    const auto& gpus = plan.hosts[1].gpus;
    EXPECT_EQ(
        plan_rank_environment(plan, identity_on("pc2", local_rank))
            .at(kGpuUuidVariable),
        gpus[static_cast<std::size_t>(local_rank) % 2].uuid.value);
  }
}

TEST(LaunchPlan, WithoutAPlanOnlyTheRankIsKnown) {
  const auto environment = plan_rank_environment({}, identity_on("pc9"));
  EXPECT_EQ(environment.at("EGPU_HOST"), "pc9");
  EXPECT_FALSE(environment.contains("EGPU_HOST_INDEX"));
  EXPECT_FALSE(environment.contains("CUDA_VISIBLE_DEVICES"));
}

TEST(LaunchPlan, TextNamesHostsAndGpus) {
  const std::string text = format_plan_text(make_plan());
  EXPECT_NE(text.find("host 1 pc2.office.lan"), std::string::npos);
  EXPECT_NE(text.find("local rank 1: NVIDIA"), std::string::npos);
  EXPECT_NE(text.find("MASTER_PORT=29500"), std::string::npos);
}

} // namespace
} // namespace egpurun::jobs
