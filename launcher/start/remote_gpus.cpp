#include "launcher/start/remote_gpus.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>
#include <string_view>

#include "jobs/plan/launch_plan.h"
#include "launcher/hosts/host_gpus.h"
#include "launcher/start/program_output.h"
#include "topology/error.h"
#include "topology/printable_text.h"
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
  Words words{mpirun.path};
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

std::string last_lines(const std::string& text) {
  constexpr std::size_t kLongest = 600;
  const auto start = text.size() > kLongest ? text.size() - kLongest : 0;
  return topology::printable_text(text.substr(start));
}

jobs::PlacementHost* find_placement_host(
    std::vector<jobs::PlacementHost>& hosts,
    const std::string& name) {
  const auto plan = jobs::place_ranks(hosts);
  const auto* found = jobs::find_host(
      plan,
      {.rank = 0,
       .world_size = 1,
       .local_rank = 0,
       .local_world_size = 1,
       .host_name = name,
       .daemon = {}});
  return found == nullptr ? nullptr
                          : &hosts[static_cast<std::size_t>(found->index)];
}

} // namespace

std::map<int, std::string> split_tagged_output(const std::string& text) {
  std::map<int, std::string> outputs;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    constexpr std::string_view kMark = "]<stdout>:";
    const auto comma = line.find(',');
    const auto mark = line.find(kMark);
    if (!line.starts_with('[') || mark == line.npos || comma > mark) {
      continue;
    }
    int rank = 0;
    const char* end = line.data() + mark;
    if (std::from_chars(line.data() + comma + 1, end, rank).ptr == end) {
      outputs[rank] += line.substr(mark + kMark.size()) + "\n";
    }
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
  const auto output =
      read_program_output(probe_command(line, mpirun, egpu_topo), kLimit, true);
  if (!output) {
    throw probe_error("no answer within 60 s");
  }
  if (output->status != 0) {
    throw probe_error(last_lines(output->text));
  }
  for (const auto& [rank, json] : split_tagged_output(output->text)) {
    const auto answer = topology::from_json(
        json, "egpu-topo's answer of host " + std::to_string(rank));
    if (!answer.host.name) {
      continue;
    }
    if (auto* host = find_placement_host(hosts, answer.host.name->value)) {
      host->gpus = list_placement_gpus(answer);
      host->is_probed = true;
    }
  }
}

} // namespace egpurun::launcher
