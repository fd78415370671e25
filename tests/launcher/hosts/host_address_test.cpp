#include "launcher/hosts/host_address.h"

#include <gtest/gtest.h>

namespace egpurun::launcher {
namespace {

TEST(HostAddress, KnowsThisPc) {
  EXPECT_TRUE(is_local_host("localhost"));
  EXPECT_TRUE(is_local_host(read_host_name()));
  EXPECT_TRUE(is_local_host("127.0.0.1"));
  EXPECT_FALSE(is_local_host("198.51.100.7"));
  EXPECT_FALSE(is_local_host("no-such-host-of-ours"));
  EXPECT_FALSE(is_local_host(""));
}

TEST(HostAddress, ResolvesNumbersAndFailsQuietly) {
  EXPECT_EQ(resolve_address("127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(resolve_address("no such name"), "");
}

TEST(HostAddress, ChoosesTheInterfaceOfANetwork) {
  EXPECT_EQ(find_local_address("127.0.0.0/8"), "127.0.0.1");
  EXPECT_EQ(find_local_address("nothing0,127.0.0.0/30"), "127.0.0.1");
  EXPECT_EQ(find_local_address("198.51.100.0/24"), "");
  EXPECT_EQ(find_local_address("127.0.0.0/64"), "");
  EXPECT_EQ(find_local_address("/,127.0.0.0/x,,"), "");
  EXPECT_EQ(find_local_address(""), "");
}

TEST(HostAddress, SourceAddressFollowsTheRoute) {
  EXPECT_EQ(find_source_address("127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(find_source_address("not-a-number"), "");
}

TEST(HostAddress, FreePortIsUnprivileged) {
  EXPECT_GT(find_free_port(), 1023);
}

} // namespace
} // namespace egpurun::launcher
