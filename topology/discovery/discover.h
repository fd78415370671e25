#pragma once

#include <filesystem>

#include "topology/discovery/host_topology.h"

namespace egpurun::topology {

// Reads the running machine ("/") or a recorded one (a folder with sys/, proc/
// and optional nvml.json, measured.json, errors.json). Throws Error
// (kBadInput) if the folder is none or one of its JSON files is wrong; missing
// or unreadable attributes never throw.
HostTopology discover_host(const std::filesystem::path& root_or_machine);

HostTopology discover_live();

// The folder a PC pretends to be, from the environment variable EGPU_MACHINE;
// "/" if it is not set.
std::filesystem::path default_machine();

} // namespace egpurun::topology
