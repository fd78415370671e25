#include "topology/nvml/nvml_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/topology/scratch_machine.h"

namespace egpurun::topology {
namespace {

using testing::HasSubstr;

TEST(NvmlFactsTest, ReadsARecordedMachine) {
  const auto facts =
      load_nvml_facts(recorded_machine("tb4_rtx5090") / "nvml.json");
  EXPECT_FALSE(facts.init_error);
  ASSERT_EQ(facts.devices.size(), 1u);
  const auto& gpu = facts.devices[0];
  EXPECT_EQ(gpu.pci_bus_id->to_string(), "0000:04:00.0");
  EXPECT_EQ(gpu.memory_bytes, 32607ull << 20);
  ASSERT_TRUE(gpu.pcie);
  EXPECT_EQ(gpu.pcie->width_current, 4);
}

TEST(NvmlFactsTest, SavesWhatItLoads) {
  ScratchMachine machine;
  NvmlFacts facts;
  facts.init_error = "NVML_ERROR_LIB_RM_VERSION_MISMATCH";
  facts.devices.resize(1);
  facts.devices[0].errors.emplace();
  (*facts.devices[0].errors)["nvmlDeviceGetUUID"] = "NVML_ERROR_GPU_IS_LOST";
  facts.devices[0].power_limit_w = 350.5;
  save_nvml_facts(machine.folder() / "nvml.json", facts);
  const auto again = load_nvml_facts(machine.folder() / "nvml.json");
  EXPECT_EQ(format_nvml_facts(again), format_nvml_facts(facts));
  EXPECT_EQ(again.init_error, facts.init_error);
  EXPECT_EQ(
      again.devices[0].errors->at("nvmlDeviceGetUUID"),
      "NVML_ERROR_GPU_IS_LOST");
  EXPECT_FALSE(again.devices[0].uuid);
}

TEST(NvmlFactsTest, IgnoresFieldsOfNewerVersions) {
  const auto facts = parse_nvml_facts(
      R"({"devices": [{"index": 0, "novel": {}}], "x": 1})", "f");
  EXPECT_EQ(facts.devices.at(0).index, 0);
}

TEST(NvmlFactsTest, WrongFieldsAreNamed) {
  try {
    parse_nvml_facts(R"({"devices": [{}, {"memory_bytes": -5}]})", "nvml.json");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.found(), HasSubstr("devices[1].memory_bytes is -5"));
    EXPECT_EQ(error.place().path, "nvml.json");
  }
  for (const char* text :
       {"",
        "[]",
        "{}",
        R"({"devices": {}})",
        R"({"devices": [3]})",
        R"({"devices": [{"pci_bus_id": "x"}]})",
        R"({"devices": [{"index": 1e99}]})"}) {
    EXPECT_THROW(parse_nvml_facts(text, "f"), Error) << text;
  }
}

TEST(NvmlFactsTest, MissingFileIsAnError) {
  EXPECT_THROW(load_nvml_facts("/nonexistent/nvml.json"), Error);
  EXPECT_THROW(save_nvml_facts("/nonexistent/nvml.json", {}), Error);
}

} // namespace
} // namespace egpurun::topology
