#include "jobs/plan/launch_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "jobs/contract/rank_environment.h"
#include "topology/json_reader.h"
#include "topology/json_writer.h"

namespace egpurun::jobs {

template <class V>
void fields(V&& v, PlannedGpu& gpu) {
  v("local_rank", gpu.local_rank);
  v("uuid", gpu.uuid);
  v("pci_address", gpu.pci_address);
  v("name", gpu.name);
}

template <class V>
void fields(V&& v, PlannedHost& host) {
  v("name", host.name);
  v("index", host.index);
  v("daemon", host.daemon);
  v("slots", host.slots);
  v("address", host.address);
  v("gpus", host.gpus);
  v("environment", host.environment);
}

template <class V>
void fields(V&& v, LaunchPlan& plan) {
  v("hosts", plan.hosts);
  v("environment", plan.environment);
}

namespace {

std::string short_name(const std::string& host) {
  return host.substr(0, host.find('.'));
}

template <class Predicate>
const PlannedHost* first_host(const LaunchPlan& plan, Predicate matches) {
  const auto host = std::ranges::find_if(plan.hosts, matches);
  return host == plan.hosts.end() ? nullptr : &*host;
}

void add_gpu(EnvironmentMap& environment, const PlannedGpu& gpu) {
  environment[kGpuUuidVariable] = gpu.uuid.value;
  environment[kVisibleGpusVariable] = gpu.uuid.value;
  environment[kGpuOrderVariable] = "PCI_BUS_ID";
}

} // namespace

std::string format_launch_plan(const LaunchPlan& plan) {
  LaunchPlan copy = plan;
  return topology::JsonWriter::write(copy).dump(
      -1, ' ', true, topology::Json::error_handler_t::replace);
}

LaunchPlan parse_launch_plan(const std::string& json) {
  const topology::JsonReader reader("read the launch plan", {});
  LaunchPlan plan;
  reader.read(reader.parse(json), "plan", plan);
  return plan;
}

const PlannedHost* find_host(
    const LaunchPlan& plan,
    const RankIdentity& identity) {
  const auto* host = first_host(plan, [&](const PlannedHost& candidate) {
    return candidate.name == identity.host_name;
  });
  if (host == nullptr) {
    host = first_host(plan, [&](const PlannedHost& candidate) {
      return short_name(candidate.name) == short_name(identity.host_name);
    });
  }
  if (host == nullptr && identity.daemon) {
    host = first_host(plan, [&](const PlannedHost& candidate) {
      return candidate.daemon == *identity.daemon;
    });
  }
  return host;
}

EnvironmentMap plan_rank_environment(
    const LaunchPlan& plan,
    const RankIdentity& identity) {
  EnvironmentMap environment = plan.environment;
  environment[kRankVariable] = std::to_string(identity.rank);
  environment[kWorldSizeVariable] = std::to_string(identity.world_size);
  environment[kLocalRankVariable] = std::to_string(identity.local_rank);
  environment[kLocalWorldSizeVariable] =
      std::to_string(identity.local_world_size);
  const PlannedHost* host = find_host(plan, identity);
  if (host == nullptr) {
    environment[kHostVariable] = identity.host_name;
    return environment;
  }
  environment[kHostVariable] = host->name;
  environment[kHostIndexVariable] = std::to_string(host->index);
  for (const auto& [name, value] : host->environment) {
    environment[name] = value;
  }
  if (!host->gpus.empty() && identity.local_rank >= 0) {
    const auto row =
        static_cast<std::size_t>(identity.local_rank) % host->gpus.size();
    add_gpu(environment, host->gpus[row]);
  }
  return environment;
}

std::string format_plan_text(const LaunchPlan& plan) {
  std::string text = "plan:\n";
  for (const auto& host : plan.hosts) {
    text += fmt::format(
        "  host {} {}, slots {}, address {}\n",
        host.index,
        host.name,
        host.slots > 0 ? std::to_string(host.slots) : "by mpirun",
        host.address.empty() ? "unknown" : host.address);
    for (const auto& gpu : host.gpus) {
      text += fmt::format(
          "    local rank {}: {} at {} ({})\n",
          gpu.local_rank,
          gpu.name,
          gpu.pci_address.to_string(),
          gpu.uuid.value);
    }
  }
  for (const auto& [name, value] : plan.environment) {
    text += fmt::format("  {}={}\n", name, value);
  }
  return text;
}

} // namespace egpurun::jobs
