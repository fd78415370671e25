#include "topology/ids.h"

#include <gtest/gtest.h>

namespace egpurun::topology {
namespace {

TEST(PciAddressTest, ParsesAndFormats) {
  const auto address = PciAddress::parse("0000:04:1f.7");
  ASSERT_TRUE(address);
  EXPECT_EQ(*address, (PciAddress{0, 4, 0x1f, 7}));
  EXPECT_EQ(address->to_string(), "0000:04:1f.7");
}

TEST(PciAddressTest, AcceptsLongDomains) {
  EXPECT_EQ(
      PciAddress::parse("00000000:04:00.0"), PciAddress::parse("0000:04:00.0"));
  // Intel VMD and some Arm hosts have domains above 0xffff.
  EXPECT_EQ(PciAddress::parse("10000:e1:00.0")->to_string(), "10000:e1:00.0");
}

TEST(PciAddressTest, RejectsEverythingElse) {
  for (const char* text :
       {"",
        "04:00.0",
        "0000:04:00",
        "0000:04:00.8",
        "0000:04:20.0",
        "0000:04:00.0 ",
        "0000:g4:00.0",
        "000000000:04:00.0",
        "0000:04:-1.0",
        "0000-04:00.0"}) {
    EXPECT_FALSE(PciAddress::parse(text)) << text;
  }
}

TEST(PciAddressTest, OrdersByBusThenSlot) {
  EXPECT_LT(
      *PciAddress::parse("0000:02:00.0"), *PciAddress::parse("0000:10:00.0"));
  EXPECT_LT(
      *PciAddress::parse("0000:ff:00.0"), *PciAddress::parse("0001:00:00.0"));
  EXPECT_TRUE(PciAddress::parse("0000:04:00.0")
                  ->same_slot(*PciAddress::parse("0000:04:00.1")));
}

TEST(GpuUuidTest, WantsNvmlsPrefix) {
  EXPECT_TRUE(GpuUuid::parse("GPU-11111111-0000-0000-0000-000000000001"));
  EXPECT_TRUE(GpuUuid::parse("MIG-11111111-0000-0000-0000-000000000001"));
  EXPECT_FALSE(GpuUuid::parse("11111111-0000-0000-0000-000000000001"));
  EXPECT_FALSE(GpuUuid::parse("GPU-"));
  EXPECT_FALSE(GpuUuid::parse("GPU-1;reboot"));
}

TEST(ThunderboltRouteTest, RoutesAreHexadecimal) {
  const auto route = ThunderboltRoute::parse("1-502");
  ASSERT_TRUE(route);
  EXPECT_EQ(route->thunderbolt_domain, 1u);
  EXPECT_EQ(route->route, 0x502u);
  EXPECT_EQ(route->first_hop(), 2);
  EXPECT_EQ(route->depth(), 2);
  EXPECT_EQ(route->to_string(), "1-502");
  EXPECT_EQ(ThunderboltRoute::parse("0-d")->first_hop(), 0xd);
}

TEST(ThunderboltRouteTest, DepthCountsCables) {
  EXPECT_EQ(ThunderboltRoute::parse("0-0")->depth(), 0);
  EXPECT_EQ(ThunderboltRoute::parse("0-1")->depth(), 1);
  EXPECT_EQ(ThunderboltRoute::parse("0-70503")->depth(), 3);
  EXPECT_EQ(ThunderboltRoute::parse("0-ffffffffffffffff")->depth(), 8);
}

TEST(ThunderboltRouteTest, ParentIsOneCableNearer) {
  EXPECT_EQ(ThunderboltRoute::parse("0-70503")->parent().to_string(), "0-503");
  EXPECT_EQ(ThunderboltRoute::parse("0-301")->parent().to_string(), "0-1");
  EXPECT_EQ(ThunderboltRoute::parse("0-1")->parent().to_string(), "0-0");
  EXPECT_EQ(ThunderboltRoute::parse("0-0")->parent().to_string(), "0-0");
}

TEST(ThunderboltRouteTest, RejectsServicesRetimersAndGarbage) {
  for (const char* text :
       {"0-1.0",
        "0-1:2.1",
        "domain0",
        "-1",
        "0-",
        "x-1",
        "0-1ffffffffffffffff",
        "-"}) {
    EXPECT_FALSE(ThunderboltRoute::parse(text)) << text;
  }
}

TEST(HostNameTest, HasNoBlanksOrShellCharacters) {
  EXPECT_TRUE(HostName::parse("pc-1.office"));
  EXPECT_FALSE(HostName::parse(""));
  EXPECT_FALSE(HostName::parse("pc 1"));
  EXPECT_FALSE(HostName::parse("pc;1"));
  EXPECT_FALSE(HostName::parse(std::string(254, 'a')));
}

} // namespace
} // namespace egpurun::topology
