#include "topology/discovery/host_facts.h"

#include <gtest/gtest.h>

#include "tests/topology/scratch_machine.h"

namespace egpurun::topology {
namespace {

TEST(HostFactsTest, ReadsARecordedMachine) {
  const auto host = read_host_facts(SysfsTree(recorded_machine("tb4_rtx5090")));
  EXPECT_EQ(host.name->value, "tb4-rtx5090");
  EXPECT_EQ(host.product, "BoxVendor Mini PC");
  EXPECT_FALSE(host.is_laptop);
  EXPECT_EQ(host.system, "Ubuntu 24.04.3 LTS");
  EXPECT_EQ(host.cores, 16);
  EXPECT_EQ(host.threads, 22);
  EXPECT_EQ(host.memory, Bytes{65432100ull * 1024});
  EXPECT_EQ(host.nvidia_module_version, "595.71.05");
}

TEST(HostFactsTest, EverythingIsOptional) {
  ScratchMachine machine;
  machine.write("proc/meminfo", "MemTotal: many kB");
  machine.write("proc/cpuinfo", ":::\n\nmodel name");
  machine.write("proc/sys/kernel/hostname", "two words");
  machine.write("etc/hostname", "pc7\n");
  machine.write("sys/class/dmi/id/chassis_type", "10");
  const auto host = read_host_facts(SysfsTree(machine.folder()));
  EXPECT_EQ(host.name->value, "pc7");
  EXPECT_TRUE(host.is_laptop);
  EXPECT_FALSE(host.memory);
  EXPECT_FALSE(host.cores);
  EXPECT_TRUE(host.cpu.empty());
  EXPECT_FALSE(host.nvidia_module_version);
}

} // namespace
} // namespace egpurun::topology
