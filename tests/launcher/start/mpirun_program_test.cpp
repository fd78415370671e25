#include "launcher/start/mpirun_program.h"

#include <gtest/gtest.h>

#include "launcher/options/option_table.h"

namespace egpurun::launcher {
namespace {

TEST(MpirunProgram, TellsVersionsApart) {
  EXPECT_EQ(parse_mpirun_version("mpirun (Open MPI) 4.1.4"), kVersion4);
  EXPECT_EQ(parse_mpirun_version("mpirun (Open MPI) 5.0.11"), kVersion5);
  EXPECT_EQ(parse_mpirun_version("mpirun (Open MPI) 10.0"), kVersion5);
}

TEST(MpirunProgram, OtherVendorsAreNone) {
  EXPECT_EQ(parse_mpirun_version("HYDRA build details:"), 0u);
  EXPECT_EQ(parse_mpirun_version("Intel(R) MPI Library for Linux* OS"), 0u);
  EXPECT_EQ(parse_mpirun_version(""), 0u);
}

} // namespace
} // namespace egpurun::launcher
