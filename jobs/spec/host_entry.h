#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace egpurun::jobs {

// One entry of hosts.list: "pc1" is one slot on pc1, "pc1:2" two.
struct HostEntry {
  std::string host;
  std::int64_t slots = 1;
};

// Host names and IPv4 addresses (letters, digits, '.', '-', '_'), slots 1 to
// 4096; nothing for any other text.
std::optional<HostEntry> parse_host_entry(std::string_view text);

// "eth0", "10.0.0.0/24" or several of them with commas between.
bool is_network_choice(std::string_view text);

} // namespace egpurun::jobs
