#include "topology/discovery/host_topology.h"

#include <algorithm>

#include "topology/discovery/gpu_models.h"
#include "topology/discovery/link_path.h"
#include "topology/discovery/tunnel_ports.h"

namespace egpurun::topology {
namespace {

constexpr EnumName<GpuVendor> kVendorNames[] = {
    {GpuVendor::kNvidia, "nvidia"},
    {GpuVendor::kAmd, "amd"},
    {GpuVendor::kIntel, "intel"},
};
constexpr EnumName<GpuAttachment> kAttachmentNames[] = {
    {GpuAttachment::kThunderbolt, "thunderbolt"},
    {GpuAttachment::kSlot, "slot"},
    {GpuAttachment::kIntegrated, "integrated"},
    {GpuAttachment::kLaptopDiscrete, "laptop"},
};
constexpr EnumName<Confidence> kConfidenceNames[] = {
    {Confidence::kHigh, "high"},
    {Confidence::kMedium, "medium"},
    {Confidence::kLow, "low"},
};
constexpr EnumName<HopKind> kHopNames[] = {
    {HopKind::kPcie, "pcie"},
    {HopKind::kTunnel, "tunnel"},
    {HopKind::kInternal, "internal"},
};

std::optional<GpuVendor> vendor_of(const PciDevice& function) {
  switch (function.vendor_id) {
    case kVendorNvidia:
      return GpuVendor::kNvidia;
    case kVendorAmd:
      return GpuVendor::kAmd;
    case kVendorIntel:
      return GpuVendor::kIntel;
    default:
      return std::nullopt;
  }
}

const NvmlDevice* find_nvml(const HostParts& parts, const PciAddress& address) {
  if (parts.nvml) {
    for (const auto& entry : parts.nvml->devices) {
      if (entry.pci_bus_id == address) {
        return &entry;
      }
    }
  }
  return nullptr;
}

// Integrated: Intel's on the root bus at 00:02.0; AMD's shares its slot with
// other functions of the CPU. A lone card on a root bus is a virtual machine's.
bool is_integrated(const PciTree& pci, const PciDevice& gpu) {
  if (gpu.vendor_id == kVendorIntel) {
    return !gpu.parent && gpu.address.bus == 0 && gpu.address.slot == 2;
  }
  return gpu.vendor_id == kVendorAmd &&
      std::any_of(
             pci.devices().begin(), pci.devices().end(), [&](const auto& row) {
               return row.first.same_slot(gpu.address) &&
                   row.second.vendor_id == kVendorAmdCpu;
             });
}

bool has_laptop_name(const std::string& model) {
  return model.find("Laptop") != std::string::npos ||
      model.find("Mobile") != std::string::npos ||
      model.find("Max-Q") != std::string::npos;
}

bool is_tunnel(const LinkHop& hop) {
  return hop.kind == HopKind::kTunnel;
}

GpuAttachment attachment_of(
    const HostParts& parts,
    const PciDevice& function,
    const Gpu& gpu) {
  if (std::any_of(gpu.path.begin(), gpu.path.end(), is_tunnel)) {
    return GpuAttachment::kThunderbolt;
  }
  if (is_integrated(parts.pci, function)) {
    return GpuAttachment::kIntegrated;
  }
  return parts.host.is_laptop && has_laptop_name(gpu.model)
      ? GpuAttachment::kLaptopDiscrete
      : GpuAttachment::kSlot;
}

// The link registers of a card that left the bus cannot be read any more,
// while sysfs still lists it.
bool is_lost(const PciDevice& function) {
  const auto fails = [&](const std::string& attribute) {
    return std::any_of(
        function.errors.begin(),
        function.errors.end(),
        [&](const AttributeError& error) {
          return error.attribute == attribute && error.error == "EINVAL";
        });
  };
  return fails("current_link_speed") && fails("current_link_width");
}

std::string not_trainable_reason(
    const HostParts& parts,
    const PciDevice& function,
    const Gpu& gpu) {
  if (gpu.vendor != GpuVendor::kNvidia) {
    return "only NVIDIA GPUs are supported";
  }
  if (is_lost(function)) {
    return "lost: the card no longer answers (EINVAL)";
  }
  if (gpu.bar1 == Bytes{0}) {
    return "its memory window BAR1 is not assigned";
  }
  if (gpu.driver != "nvidia") {
    return gpu.driver ? "driver is " + *gpu.driver + ", not nvidia"
                      : "no driver bound";
  }
  if (parts.nvml && parts.nvml->init_error) {
    return "NVML does not start: " + *parts.nvml->init_error;
  }
  if (parts.nvml && find_nvml(parts, function.address) == nullptr) {
    return "NVML does not list it";
  }
  return "";
}

void add_nvml(const NvmlDevice& nvml, Gpu& gpu) {
  gpu.uuid = nvml.uuid;
  if (nvml.name) {
    gpu.model = *nvml.name;
  }
  if (nvml.memory_bytes) {
    gpu.memory = Bytes{*nvml.memory_bytes};
  }
}

Gpu make_gpu(
    const HostParts& parts,
    const TunnelPorts& tunnel_ports,
    const PciDevice& function,
    GpuVendor vendor) {
  Gpu gpu;
  gpu.address = function.address;
  gpu.vendor = vendor;
  gpu.vendor_id = function.vendor_id;
  gpu.device_id = function.device_id;
  gpu.model = gpu_model_name(function.vendor_id, function.device_id);
  gpu.driver = function.driver;
  gpu.removable = function.removable;
  gpu.errors = function.errors;
  for (const auto& bar : function.bars) {
    if (bar.index == 1 && vendor == GpuVendor::kNvidia) {
      gpu.bar1 = bar.size;
    }
  }
  if (const auto* nvml = find_nvml(parts, function.address)) {
    add_nvml(*nvml, gpu);
  }
  gpu.path = find_link_path(parts.pci.chain(function.address), tunnel_ports);
  gpu.attachment = attachment_of(parts, function, gpu);
  gpu.router = map_router(gpu.path, tunnel_ports, parts.thunderbolt);
  gpu.not_trainable_reason = not_trainable_reason(parts, function, gpu);
  gpu.trainable = gpu.not_trainable_reason.empty();
  const auto measured = parts.measured.find(function.address);
  if (measured != parts.measured.end()) {
    gpu.measured = measured->second;
  }
  return gpu;
}

// Where the cable or slot that limits the GPU starts.
PciAddress shared_port(const Gpu& gpu) {
  const auto tunnel = std::find_if(gpu.path.begin(), gpu.path.end(), is_tunnel);
  if (tunnel != gpu.path.end()) {
    return tunnel->upper;
  }
  return gpu.path.empty() ? gpu.address : gpu.path.front().upper;
}

std::optional<ThunderboltRoute> first_router(const Gpu& gpu) {
  if (!gpu.router) {
    return std::nullopt;
  }
  return ThunderboltRoute{
      gpu.router->route.thunderbolt_domain, gpu.router->route.first_hop()};
}

std::vector<LinkGroup> group_by_link(std::vector<Gpu>& gpus) {
  std::map<PciAddress, LinkGroup> groups;
  for (const auto& gpu : gpus) {
    if (gpu.attachment != GpuAttachment::kIntegrated) {
      auto& group = groups[shared_port(gpu)];
      group.port = shared_port(gpu);
      group.gpus.push_back(gpu.address);
      group.first_router =
          group.first_router ? group.first_router : first_router(gpu);
    }
  }
  std::vector<LinkGroup> result;
  for (auto& [port, group] : groups) {
    group.name = "link-" + std::to_string(result.size() + 1);
    result.push_back(group);
  }
  for (auto& gpu : gpus) {
    const auto group = groups.find(shared_port(gpu));
    if (gpu.attachment != GpuAttachment::kIntegrated) {
      gpu.link_group = group->second.name;
    }
  }
  return result;
}

} // namespace

std::span<const EnumName<GpuVendor>> enum_names(GpuVendor) {
  return kVendorNames;
}
std::span<const EnumName<GpuAttachment>> enum_names(GpuAttachment) {
  return kAttachmentNames;
}
std::span<const EnumName<Confidence>> enum_names(Confidence) {
  return kConfidenceNames;
}
std::span<const EnumName<HopKind>> enum_names(HopKind) {
  return kHopNames;
}

HostTopology join_host_topology(HostParts parts) {
  HostTopology topology;
  const auto tunnel_ports = find_tunnel_ports(parts.pci, parts.thunderbolt);
  for (const auto& [address, function] : parts.pci.devices()) {
    const auto vendor = vendor_of(function);
    if (vendor && function.is_display()) {
      topology.gpus.push_back(make_gpu(parts, tunnel_ports, function, *vendor));
    }
  }
  topology.link_groups = group_by_link(topology.gpus);
  if (parts.nvml) {
    topology.nvml = {
        true,
        parts.nvml->init_error,
        parts.nvml->driver_version,
        parts.nvml->cuda_driver_version};
  }
  topology.host = std::move(parts.host);
  topology.thunderbolt_domains = std::move(parts.thunderbolt.domains);
  topology.thunderbolt_routers = std::move(parts.thunderbolt.routers);
  topology.thunderbolt_peers = std::move(parts.thunderbolt.peers);
  topology.network_interfaces = std::move(parts.network_interfaces);
  return topology;
}

} // namespace egpurun::topology
