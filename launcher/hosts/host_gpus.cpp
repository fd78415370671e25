#include "launcher/hosts/host_gpus.h"

#include <algorithm>

#include "topology/discovery/discover.h"

namespace egpurun::launcher {

namespace {

std::string find_obstacle(const topology::Gpu& gpu) {
  if (!gpu.trainable) {
    return gpu.not_trainable_reason.empty() ? "not trainable"
                                            : gpu.not_trainable_reason;
  }
  return gpu.uuid ? "" : "the NVIDIA driver gives it no UUID";
}

} // namespace

std::vector<jobs::PlacementGpu> list_placement_gpus(
    const topology::HostTopology& host) {
  std::vector<jobs::PlacementGpu> gpus;
  for (const auto& gpu : host.gpus) {
    if (gpu.attachment != topology::GpuAttachment::kIntegrated) {
      gpus.push_back(
          {.uuid = gpu.uuid.value_or(GpuUuid{}),
           .pci_address = gpu.address,
           .name = gpu.model.empty() ? "GPU" : gpu.model,
           .unusable_because = find_obstacle(gpu)});
    }
  }
  return gpus;
}

void discover_local_gpus(std::vector<jobs::PlacementHost>& hosts) {
  for (auto& host : hosts) {
    if (host.is_local) {
      host.gpus = list_placement_gpus(
          topology::discover_host(topology::default_machine()));
      host.is_probed = true;
    }
  }
}

bool has_usable_gpu(const std::vector<jobs::PlacementHost>& hosts) {
  return std::ranges::any_of(hosts, [](const auto& host) {
    return std::ranges::any_of(host.gpus, [](const auto& gpu) {
      return gpu.unusable_because.empty();
    });
  });
}

} // namespace egpurun::launcher
