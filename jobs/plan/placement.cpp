#include "jobs/plan/placement.h"

#include <fmt/format.h>

#include <algorithm>

namespace egpurun::jobs {

namespace {

std::vector<PlacementGpu> usable_gpus(const PlacementHost& host) {
  std::vector<PlacementGpu> usable;
  std::ranges::copy_if(
      host.gpus, std::back_inserter(usable), [](const PlacementGpu& gpu) {
        return gpu.unusable_because.empty();
      });
  std::ranges::stable_sort(usable, {}, &PlacementGpu::pci_address);
  return usable;
}

std::string explain_count(const PlacementHost& host, std::size_t usable) {
  if (!host.is_probed) {
    return fmt::format(
        "{}: not asked for its GPUs, so its ranks see all of them", host.name);
  }
  if (usable == 0) {
    return fmt::format("{}: no usable GPU, its ranks use the CPU", host.name);
  }
  if (static_cast<std::size_t>(std::max(host.slots, 0)) > usable) {
    return fmt::format(
        "{}: {} slots share {} GPUs in turn", host.name, host.slots, usable);
  }
  return fmt::format(
      "{}: usable GPUs {}, one per rank in PCI order", host.name, usable);
}

void explain(
    const PlacementHost& host,
    const std::vector<PlannedGpu>& planned,
    std::vector<std::string>& reasons) {
  reasons.push_back(explain_count(host, planned.size()));
  for (const auto& gpu : planned) {
    reasons.push_back(fmt::format(
        "{} local rank {}: {} at {}",
        host.name,
        gpu.local_rank,
        gpu.name,
        gpu.pci_address.to_string()));
  }
  for (const auto& gpu : host.gpus) {
    if (!gpu.unusable_because.empty()) {
      reasons.push_back(fmt::format(
          "{}: {} at {} is left out: {}",
          host.name,
          gpu.name,
          gpu.pci_address.to_string(),
          gpu.unusable_because));
    }
  }
}

} // namespace

LaunchPlan place_ranks(const std::vector<PlacementHost>& hosts) {
  LaunchPlan plan;
  int next_daemon = 1;
  for (const auto& host : hosts) {
    PlannedHost planned{
        .name = host.name,
        .index = static_cast<int>(plan.hosts.size()),
        .daemon = host.is_local ? 0 : next_daemon++,
        .slots = host.slots,
        .address = host.address,
        .gpus = {},
        .environment = {}};
    for (const auto& gpu : usable_gpus(host)) {
      planned.gpus.push_back(
          {static_cast<int>(planned.gpus.size()),
           gpu.uuid,
           gpu.pci_address,
           gpu.name});
    }
    explain(host, planned.gpus, plan.reasons);
    plan.hosts.push_back(std::move(planned));
  }
  return plan;
}

int default_ranks(const PlacementHost& host) {
  if (host.slots > 0) {
    return host.slots;
  }
  return std::max(1, static_cast<int>(usable_gpus(host).size()));
}

} // namespace egpurun::jobs
