#pragma once

#include <string>
#include <vector>

#include "topology/units.h"

namespace egpurun::launcher {

// Where ssh would connect to for a host name; ~/.ssh/config may change it all.
struct SshTarget {
  std::string name; // as the user wrote it
  std::string host_name;
  int tcp_port = 22;
  bool has_proxy = false; // ssh goes through a command or another host
};

// Reads the output of `ssh -G NAME`. Unknown lines are passed over.
SshTarget parse_ssh_target(const std::string& name, const std::string& text);

// Asks `ssh -G`; without ssh in PATH the name itself and port 22.
SshTarget read_ssh_target(const std::string& name);

// Tries to open a TCP connection to each target, all at once, for at most
// `limit`, and closes it again. A line for each that does not answer, such as
// "pc2 (10.0.0.2 port 22): No route to host". Targets behind a proxy are not
// tried.
std::vector<std::string> find_unreachable(
    const std::vector<SshTarget>& targets,
    Seconds limit);

} // namespace egpurun::launcher
