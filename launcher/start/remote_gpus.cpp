#include "launcher/start/remote_gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <regex>
#include <string_view>

#include "jobs/plan/launch_plan.h"
#include "launcher/hosts/host_gpus.h"
#include "launcher/start/program_output.h"
#include "topology/error.h"
#include "topology/views/host_json.h"

namespace egpurun::launcher {

namespace {

// Options that decide where and how mpirun reaches the hosts.
bool is_needed_by_probe(const GivenOption& option) {
  constexpr std::array<std::string_view, 6> kNames{
      "allow-run-as-root",
      "launch-agent",
      "leave-session-attached",
      "nolocal",
      "noprefix",
      "prefix"};
  const auto role = option.row->role;
  const bool is_mapping = role == OptionRole::kParameter &&
      option.values[0].find("rmaps") != std::string::npos;
  return role == OptionRole::kHosts || role == OptionRole::kHostfile ||
      (role == OptionRole::kParameter && !is_mapping) ||
      std::ranges::count(kNames, option.name) > 0;
}

Words probe_command(
    const CommandLine& line,
    const MpirunProgram& mpirun,
    const std::string& egpu_topo) {
  Words words{mpirun.name};
  for (const auto& option : line.contexts[0].options) {
    if (is_needed_by_probe(option)) {
      words.insert(words.end(), option.words.begin(), option.words.end());
    }
  }
  const Words probe{
      "--map-by", "ppr:1:node", "--tag-output", egpu_topo, "show", "--json"};
  words.insert(words.end(), probe.begin(), probe.end());
  return words;
}

Error probe_error(const std::string& found) {
  return Error(
      ErrorKind::kEnvironment,
      "ask the hosts for their GPUs",
      found,
      "try `ssh HOST egpu-topo show`; egpurun must be installed in the same "
      "folder on every PC");
}

// mpirun numbers one rank per host in the order of its daemons. Names decide
// where they can; a recorded machine keeps the name of the recorded PC.
std::vector<jobs::PlacementHost*> order_by_daemon(
    std::vector<jobs::PlacementHost>& hosts) {
  std::vector<jobs::PlacementHost*> ordered;
  for (auto& host : hosts) {
    ordered.push_back(&host);
  }
  std::ranges::stable_partition(
      ordered, [](const auto* host) { return host->is_local; });
  return ordered;
}

jobs::PlacementHost* find_by_name(
    std::vector<jobs::PlacementHost>& hosts,
    const topology::HostTopology& answer) {
  if (answer.recorded || !answer.host.name) {
    return nullptr;
  }
  jobs::RankIdentity identity;
  identity.host_name = answer.host.name->value;
  const auto plan = jobs::place_ranks(hosts);
  const auto* found = jobs::find_host(plan, identity);
  return found == nullptr ? nullptr
                          : &hosts[static_cast<std::size_t>(found->index)];
}

} // namespace

std::map<int, std::string> split_tagged_output(const std::string& text) {
  static const std::regex tag(R"(\[\d+,(\d{1,6})\]<stdout>:)");
  std::map<int, std::string> outputs;
  std::sregex_iterator next(text.begin(), text.end(), tag);
  while (next != std::sregex_iterator()) {
    const std::smatch match = *next++;
    const auto end = next == std::sregex_iterator()
        ? text.size()
        : static_cast<std::size_t>(next->position());
    const auto start =
        static_cast<std::size_t>(match.position() + match.length());
    outputs[std::stoi(match[1])] += text.substr(start, end - start);
  }
  return outputs;
}

void discover_remote_gpus(
    std::vector<jobs::PlacementHost>& hosts,
    const CommandLine& line,
    const MpirunProgram& mpirun,
    const std::string& egpu_topo) {
  const auto is_probed = &jobs::PlacementHost::is_probed;
  if (!hosts.empty() && std::ranges::all_of(hosts, is_probed)) {
    return;
  }
  constexpr Seconds kLimit{60};
  const auto output = read_program_output(
      probe_command(line, mpirun, egpu_topo),
      kLimit,
      StandardError::kKept,
      mpirun.path);
  if (!output) {
    throw probe_error("no answer within 60 s");
  }
  if (output->status != 0) {
    throw probe_error(
        fmt::format("mpirun ended with exit status {}", output->status));
  }
  const auto answers = split_tagged_output(output->text);
  const auto ordered = order_by_daemon(hosts);
  for (const auto& [rank, json] : answers) {
    const auto answer = topology::from_json(
        json, "egpu-topo's answer of host " + std::to_string(rank));
    auto* host = find_by_name(hosts, answer);
    if (host == nullptr && answers.size() == ordered.size()) {
      host = ordered.at(static_cast<std::size_t>(rank));
    }
    if (host != nullptr) {
      host->gpus = list_placement_gpus(answer);
      host->is_probed = true;
    }
  }
}

} // namespace egpurun::launcher
