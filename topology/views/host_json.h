#pragma once

#include <string>

#include "topology/discovery/host_topology.h"

namespace egpurun::topology {

// Version of the JSON form of HostTopology; fields may be added within one.
constexpr int kSchemaVersion = 1;

// One JSON object, indented, with a final newline. Schema: topology/README.md.
std::string to_json(HostTopology topology);

// Reads what to_json wrote. `origin` (a path or host name) is for errors:
// Error (kBadInput) names the wrong field, or a schema that is too new.
HostTopology from_json(const std::string& text, const std::string& origin);

} // namespace egpurun::topology
