#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace egpurun::launcher {

struct ListedHost {
  std::string name;
  int slots = 0; // 0 = no number given

  bool operator==(const ListedHost&) const = default;
};

// Adds a host, or its slots if it is already there.
void add_host(std::vector<ListedHost>& hosts, const ListedHost& host);

// Value of mpirun's --host: "pc1:2,pc2". Repeats add up. Names that only
// select from an allocation ("+n0") are left out.
std::vector<ListedHost> parse_host_option(std::string_view value);

// An mpirun hostfile's names and slots; whatever mpirun would reject is left
// out, so that mpirun's own message appears.
std::vector<ListedHost> parse_hostfile(std::string_view text);

// parse_hostfile of a file; empty if it cannot be read.
std::vector<ListedHost> read_hostfile(const std::string& path);

} // namespace egpurun::launcher
