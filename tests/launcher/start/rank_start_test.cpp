#include "launcher/start/rank_start.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "topology/error.h"

namespace egpurun::launcher {
namespace {

using testing::ElementsAre;

TEST(RankStart, ReadsPlanPathAndProgram) {
  const auto start = parse_rank_start(
      {"--plan",
       R"({"hosts":[],"environment":{"A":"b"}})",
       "--path",
       "/a:/b",
       "--",
       "-np",
       "--"});
  EXPECT_EQ(start.plan.environment.at("A"), "b");
  EXPECT_EQ(start.search_path, "/a:/b");
  EXPECT_THAT(start.program, ElementsAre("-np", "--"));
  EXPECT_THAT(parse_rank_start({"a", "-b"}).program, ElementsAre("a", "-b"));
}

TEST(RankStart, BadWordsAreErrors) {
  EXPECT_THROW(parse_rank_start({}), Error);
  EXPECT_THROW(parse_rank_start({"--"}), Error);
  EXPECT_THROW(parse_rank_start({"--plan"}), Error);
  EXPECT_THROW(parse_rank_start({"--plan", "{", "--", "a"}), Error);
  EXPECT_THROW(parse_rank_start({"--plan", "[]", "--", "a"}), Error);
  EXPECT_THROW(parse_rank_start({"--other", "a"}), Error);
}

TEST(RankStart, ReadsTheDaemonNumber) {
  EXPECT_EQ(parse_daemon_number("1309474816.12;tcp://10.0.0.1:1"), 12);
  EXPECT_EQ(parse_daemon_number("prterun-pc1-99@0.3;tcp4://10.0.0.1:1"), 3);
  EXPECT_FALSE(parse_daemon_number(""));
  EXPECT_FALSE(parse_daemon_number("12.5"));
  EXPECT_FALSE(parse_daemon_number("a.b;c"));
  EXPECT_FALSE(parse_daemon_number(".;"));
}

TEST(RankStart, MissingProgramsGiveMpirunsStatus) {
  RankStart start;
  start.program = {"no-such-program-of-ours"};
  EXPECT_EQ(execute_program(start).exit_status, 134);
  start.program = {"./no-such-program-of-ours"};
  EXPECT_EQ(execute_program(start).exit_status, 132);
  start.program = {"/"};
  EXPECT_EQ(execute_program(start).exit_status, 131);
}

} // namespace
} // namespace egpurun::launcher
