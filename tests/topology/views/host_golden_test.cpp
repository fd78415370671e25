#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "tests/topology/scratch_machine.h"
#include "topology/discovery/discover.h"
#include "topology/views/host_json.h"
#include "topology/views/host_text.h"

namespace egpurun::topology {
namespace {

// Compares with tests/data/machines/<name>.golden.<kind>, or writes that file
// when EGPU_UPDATE_GOLDEN=1 (scripts/update_golden).
void compare_golden(
    const std::string& name,
    const std::string& kind,
    const std::string& actual) {
  const auto path = recorded_machine(name + ".golden." + kind);
  const char* update = std::getenv("EGPU_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") {
    std::ofstream(path) << actual;
  }
  std::ifstream file(path);
  ASSERT_TRUE(file) << path << " is missing; scripts/update_golden writes it";
  std::ostringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(actual, expected.str())
      << "if the change is meant, run scripts/update_golden";
}

class HostGoldenTest : public testing::TestWithParam<const char*> {};

TEST_P(HostGoldenTest, Text) {
  const auto topology = discover_host(recorded_machine(GetParam()));
  compare_golden(GetParam(), "txt", to_text(topology, false));
}

TEST_P(HostGoldenTest, Json) {
  const auto topology = discover_host(recorded_machine(GetParam()));
  compare_golden(GetParam(), "json", to_json(topology));
}

INSTANTIATE_TEST_SUITE_P(
    Machines,
    HostGoldenTest,
    testing::Values("tb4_rtx5090", "one_link_two_gpus"),
    [](const auto& info) { return std::string(info.param); });

} // namespace
} // namespace egpurun::topology
