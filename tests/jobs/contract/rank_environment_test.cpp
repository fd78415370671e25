#include "jobs/contract/rank_environment.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace egpurun::jobs {
namespace {

TEST(RankEnvironment, NamesAreUnique) {
  std::set<std::string> names;
  for (const auto& row : environment_variables()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
  }
}

TEST(RankEnvironment, OnlyJobWideVariablesTravel) {
  EXPECT_TRUE(travels_with_the_job("EGPU_SOMETHING_OF_THE_USER"));
  EXPECT_FALSE(travels_with_the_job("EGPU_MACHINE"));
  EXPECT_FALSE(travels_with_the_job("EGPU_HOST_LINK"));
  EXPECT_FALSE(travels_with_the_job("EGPU_GPU_UUID"));
  EXPECT_FALSE(travels_with_the_job("EGPU_BIN"));
  EXPECT_FALSE(travels_with_the_job("PATH"));
  EXPECT_FALSE(travels_with_the_job("RANK"));
}

TEST(RankEnvironment, ReadmeHoldsTheTable) {
  std::ifstream file(EGPU_SOURCE_DIR "/jobs/contract/README.md");
  const std::string readme{
      std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_NE(readme.find(format_environment_table()), std::string::npos)
      << "put this into jobs/contract/README.md:\n"
      << format_environment_table();
}

} // namespace
} // namespace egpurun::jobs
