#include "topology/views/host_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/topology/scratch_machine.h"
#include "topology/discovery/discover.h"
#include "topology/error.h"

namespace egpurun::topology {
namespace {

using testing::HasSubstr;

std::string replaced(
    std::string text,
    const std::string& from,
    const std::string& to) {
  const auto place = text.find(from);
  EXPECT_NE(place, std::string::npos) << from;
  return text.replace(place, from.size(), to);
}

std::string found_by(const std::string& json) {
  try {
    from_json(json, "pc1");
  } catch (const Error& error) {
    EXPECT_EQ(error.place().path, "pc1");
    EXPECT_FALSE(error.advice().empty());
    return error.found();
  }
  return "no error";
}

TEST(HostJsonTest, RoundTripKeepsEverything) {
  for (const char* name : {"tb4_rtx5090", "one_link_two_gpus"}) {
    const auto json = to_json(discover_host(recorded_machine(name)));
    EXPECT_EQ(to_json(from_json(json, name)), json);
  }
  EXPECT_EQ(to_json(from_json(to_json({}), "empty")), to_json({}));
}

TEST(HostJsonTest, ValuesSurvive) {
  const auto topology =
      from_json(to_json(discover_host(recorded_machine("tb4_rtx5090"))), "pc1");
  EXPECT_TRUE(topology.recorded);
  ASSERT_EQ(topology.gpus.size(), 2u);
  const auto& gpu = topology.gpus[1];
  EXPECT_EQ(gpu.address, PciAddress::parse("0000:04:00.0"));
  EXPECT_EQ(gpu.path[0].kind, HopKind::kTunnel);
  EXPECT_EQ(gpu.memory, Bytes{32607ull << 20});
  EXPECT_DOUBLE_EQ(gpu.measured->from_gpu->value, 3.29);
  EXPECT_EQ(topology.host.name->value, "tb4-rtx5090");
}

TEST(HostJsonTest, SchemaVersionIsChecked) {
  const auto json = to_json({});
  EXPECT_THAT(json, HasSubstr("\"schema_version\": 1"));
  const std::string version = "\"schema_version\": 1";
  EXPECT_THAT(
      found_by(replaced(json, version, "\"schema_version\": 2")),
      HasSubstr("schema_version is 2"));
  EXPECT_THAT(
      found_by(replaced(json, version, "\"other\": 1")),
      HasSubstr("schema_version is null"));
  EXPECT_THAT(found_by("[]"), HasSubstr("schema_version"));
  EXPECT_THAT(found_by("not json"), HasSubstr("not valid JSON"));
}

TEST(HostJsonTest, WrongFieldsAreNamed) {
  const auto json = to_json(discover_host(recorded_machine("tb4_rtx5090")));
  EXPECT_THAT(
      found_by(replaced(json, "\"0000:00:02.0\"", "\"card\"")),
      HasSubstr("topology.gpus[0].address is \"card\""));
  EXPECT_THAT(
      found_by(replaced(json, "\"integrated\"", "\"glued\"")),
      HasSubstr("gpus[0].attachment"));
  EXPECT_THAT(
      found_by(replaced(json, "\"vendor_id\": 32902", "\"vendor_id\": -1")),
      HasSubstr("gpus[0].vendor_id is -1"));
  EXPECT_THAT(
      found_by(replaced(json, "\"trainable\"", "\"trained\"")),
      HasSubstr("gpus[0].trainable is null"));
}

TEST(HostJsonTest, NewFieldsAreIgnored) {
  const auto json = to_json({});
  EXPECT_EQ(
      to_json(from_json(replaced(json, "{", "{\"later\": [1, {}],"), "pc1")),
      json);
}

TEST(HostJsonTest, OptionalFieldsMayBeMissing) {
  const auto topology = from_json(
      replaced(to_json({}), "\"kernel\"", "\"cores\": 4, \"kernel\""), "pc1");
  EXPECT_TRUE(topology.gpus.empty());
  EXPECT_FALSE(topology.host.name);
}

} // namespace
} // namespace egpurun::topology
