#include "launcher/hosts/host_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace egpurun::launcher {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(HostList, ReadsTheHostOption) {
  EXPECT_THAT(
      parse_host_option("pc1:2,pc2,pc3:*,pc1"),
      ElementsAre(
          ListedHost{"pc1", 3}, ListedHost{"pc2", 1}, ListedHost{"pc3", 0}));
  EXPECT_THAT(parse_host_option("+n0,,"), IsEmpty());
  EXPECT_THAT(parse_host_option(""), IsEmpty());
}

TEST(HostList, ReadsAHostfile) {
  EXPECT_THAT(
      parse_hostfile("# office\n"
                     "pc1 slots=2 max_slots=4 // two docks\n"
                     "\n"
                     "user@pc2 slots = 1 # egpu: gpus=1\n"
                     "/* pc3\n"
                     "pc4 */ pc5 cpu=3"),
      ElementsAre(
          ListedHost{"pc1", 2}, ListedHost{"pc2", 1}, ListedHost{"pc5", 3}));
}

TEST(HostList, DamagedHostfilesGiveNoHostsOrOddOnesButNeverFail) {
  EXPECT_THAT(parse_hostfile("/* never closed"), IsEmpty());
  EXPECT_THAT(parse_hostfile("#"), IsEmpty());
  EXPECT_THAT(
      parse_hostfile("pc1 slots=\npc2 slots=-1\npc3 slots=99999999999"),
      ElementsAre(
          ListedHost{"pc1", 0}, ListedHost{"pc2", 0}, ListedHost{"pc3", 0}));
  EXPECT_THAT(read_hostfile("/no/such/hostfile"), IsEmpty());
}

} // namespace
} // namespace egpurun::launcher
