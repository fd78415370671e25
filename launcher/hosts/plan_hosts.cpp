#include "launcher/hosts/plan_hosts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "jobs/contract/rank_environment.h"
#include "launcher/hosts/host_address.h"

namespace egpurun::launcher {

namespace {

std::vector<ListedHost> hosts_of(const GivenOption& option) {
  if (option.row->role == OptionRole::kHosts) {
    return parse_host_option(option.values[0]);
  }
  return read_hostfile(option.values[0]);
}

std::vector<ListedHost> collect(const CommandLine& line, OptionRole role) {
  std::vector<ListedHost> hosts;
  for (const auto& context : line.contexts) {
    for (const auto& option : context.options) {
      if (option.row->role == role) {
        for (const auto& host : hosts_of(option)) {
          add_host(hosts, host);
        }
      }
    }
  }
  return hosts;
}

bool is_local(const jobs::PlannedHost& host) {
  return host.daemon == 0;
}

// An address that only this PC can use would mislead the other hosts.
std::string address_for_others(
    const std::vector<jobs::PlannedHost>& hosts,
    const std::string& network) {
  const std::string chosen = find_local_address(network);
  if (!chosen.empty()) {
    return chosen;
  }
  const auto other = std::ranges::find_if_not(hosts, is_local);
  const std::string peer =
      other == hosts.end() ? "" : resolve_address(other->name);
  // An address of no host (RFC 5737) gives the default route's interface.
  constexpr const char* kAnywhere = "192.0.2.1";
  return find_source_address(peer.empty() ? kAnywhere : peer);
}

std::string explain_master(const std::string& host, const std::string& found) {
  if (found.empty()) {
    return fmt::format(
        "MASTER_ADDR is not set: no name service knows {}", host);
  }
  return fmt::format("MASTER_ADDR={}: rank 0 is expected on {}", found, host);
}

} // namespace

std::vector<ListedHost> find_listed_hosts(const CommandLine& line) {
  auto hosts = collect(line, OptionRole::kHosts);
  return hosts.empty() ? collect(line, OptionRole::kHostfile) : hosts;
}

bool is_in_allocation() {
  constexpr std::array kMarks{
      "SLURM_JOBID", "PBS_JOBID", "PE_HOSTFILE", "LSB_JOBID"};
  return std::ranges::any_of(
      kMarks, [](const char* name) { return std::getenv(name) != nullptr; });
}

std::vector<jobs::PlacementHost> list_placement_hosts(
    const std::vector<ListedHost>& listed) {
  std::vector<jobs::PlacementHost> hosts;
  for (const auto& host : listed) {
    hosts.push_back(
        {.name = host.name,
         .slots = host.slots,
         .address = {},
         .is_local = is_local_host(host.name),
         .is_probed = false,
         .gpus = {}});
  }
  if (hosts.empty() && !is_in_allocation()) {
    hosts.push_back(
        {.name = read_host_name(),
         .slots = 0,
         .address = {},
         .is_local = true,
         .is_probed = false,
         .gpus = {}});
  }
  return hosts;
}

void choose_master(jobs::LaunchPlan& plan, const std::string& network) {
  auto& hosts = plan.hosts;
  std::string name = "this PC";
  std::string address;
  const auto local = std::ranges::find_if(hosts, is_local);
  if (!hosts.empty() && local == hosts.end()) {
    name = hosts[0].name;
    address = hosts[0].address = resolve_address(name);
  } else if (hosts.size() == 1) {
    address = local->address = "127.0.0.1";
  } else {
    address = address_for_others(hosts, network);
    if (local != hosts.end()) {
      name = local->name;
      local->address = address;
    }
  }
  plan.reasons.push_back(explain_master(name, address));
  const int port = find_free_port();
  if (!address.empty() && port > 0) {
    plan.environment[jobs::kMasterAddressVariable] = address;
    plan.environment[jobs::kMasterPortVariable] = std::to_string(port);
  }
}

} // namespace egpurun::launcher
