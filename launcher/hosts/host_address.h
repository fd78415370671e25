#pragma once

#include <string>
#include <vector>

namespace egpurun::launcher {

// The kernel's name of this PC.
std::string read_host_name();

// True if `name` is this PC: its name with or without domain, "localhost", or
// the numeric address of one of its interfaces. Asks no name server.
bool is_local_host(const std::string& name);

// The first numeric address of a name, IPv4 before IPv6; "" if no name service
// knows it. May take seconds when a name server does not answer.
std::string resolve_address(const std::string& name);

// This PC's address on `network`, a list like btl_tcp_if_include's: interface
// names and IPv4 networks "10.0.0.0/24"; "" if there is none.
std::string find_local_address(const std::string& network);

// The address under which the host `peer` (numeric) sees this PC, by the
// kernel's routes; "" if there is no route. Sends nothing.
std::string find_source_address(const std::string& peer);

// A TCP port that is free now; 0 if the kernel gives none.
int find_free_port();

} // namespace egpurun::launcher
