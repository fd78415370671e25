#include "launcher/start/program_output.h"

#include <gtest/gtest.h>

namespace egpurun::launcher {
namespace {

std::optional<ProgramOutput> run(
    const std::string& script,
    StandardError standard_error) {
  return read_program_output(
      {"/bin/sh", "-c", script}, Seconds{20}, standard_error);
}

TEST(ProgramOutput, GivesTextAndStatus) {
  const auto output =
      run("echo out; echo err >&2; exit 7", StandardError::kJoined);
  ASSERT_TRUE(output);
  EXPECT_EQ(output->text, "out\nerr\n");
  EXPECT_EQ(output->status, 7);
  EXPECT_EQ(run("echo err >&2", StandardError::kDropped)->text, "");
  EXPECT_EQ(run("kill -9 $$", StandardError::kDropped)->status, 137);
  EXPECT_EQ(run("cat", StandardError::kDropped)->text, "");
}

TEST(ProgramOutput, SurvivesLargeOutput) {
  const auto output = run("head -c 1000000 /dev/zero", StandardError::kDropped);
  ASSERT_TRUE(output);
  EXPECT_EQ(output->text.size(), 1000000u);
}

TEST(ProgramOutput, ASilentProgramIsKilledAtTheLimit) {
  EXPECT_FALSE(read_program_output(
      {"/bin/sh", "-c", "exec sleep 1000"},
      Seconds{0.2},
      StandardError::kDropped));
}

TEST(ProgramOutput, MissingProgramGivesNothing) {
  const auto output = read_program_output(
      {"/no/such/program"}, Seconds{5}, StandardError::kDropped);
  EXPECT_FALSE(output && output->status == 0);
}

} // namespace
} // namespace egpurun::launcher
