#pragma once

#include <string>

#include "topology/discovery/host_topology.h"
#include "topology/views/text_tree.h"

namespace egpurun::topology {

// Adds the GPU and what is known about it below `parent`.
void add_gpu(const HostTopology& topology, const Gpu& gpu, TextNode& parent);

// "BoxVendor GPU BOX 5090"; "this PC" for a host router without a name.
std::string router_name(const ThunderboltRouter& router);

// "31.8 GiB" or "64 MiB".
std::string size_text(Bytes size);

} // namespace egpurun::topology
