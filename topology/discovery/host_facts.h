#pragma once

#include <optional>
#include <string>

#include "topology/ids.h"
#include "topology/sysfs/sysfs_tree.h"
#include "topology/units.h"

namespace egpurun::topology {

// The PC itself. Empty texts and options are unknown.
struct HostFacts {
  std::optional<HostName> name;
  std::string product; // maker and model, from the firmware
  bool is_laptop = false; // chassis type of the firmware
  std::string system; // "Debian GNU/Linux 12 (bookworm)"
  std::string kernel; // "6.19.4"
  std::string cpu;
  std::optional<int> cores; // physical
  std::optional<int> threads; // hardware threads the kernel uses
  std::optional<Bytes> memory; // usable by the kernel
  // Of the loaded kernel module; NVML is not asked.
  std::optional<std::string> nvidia_module_version;
};

HostFacts read_host_facts(const SysfsTree& tree);

} // namespace egpurun::topology
