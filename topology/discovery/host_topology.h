#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "topology/discovery/host_facts.h"
#include "topology/discovery/network_interfaces.h"
#include "topology/discovery/pci_tree.h"
#include "topology/discovery/thunderbolt_tree.h"
#include "topology/nvml/nvml_facts.h"

namespace egpurun::topology {

enum class GpuVendor {
  kNvidia,
  kAmd,
  kIntel
};
std::span<const EnumName<GpuVendor>> enum_names(GpuVendor);

enum class GpuAttachment {
  kThunderbolt, // Thunderbolt or USB4
  kSlot, // slot, OCuLink or M.2: Linux shows no difference
  kIntegrated, // part of the CPU
  kLaptopDiscrete, // soldered into a laptop
};
std::span<const EnumName<GpuAttachment>> enum_names(GpuAttachment);

// How sure the mapping of a GPU to its router is.
enum class Confidence {
  kHigh,
  kMedium,
  kLow
};
std::span<const EnumName<Confidence>> enum_names(Confidence);

enum class HopKind {
  kPcie, // a real PCIe link
  kTunnel, // PCIe inside a Thunderbolt cable: its registers say nothing
  kInternal, // inside one switch, dock or card: no link of its own
};
std::span<const EnumName<HopKind>> enum_names(HopKind);

// One link between a bridge and what is below it. The rates are what both ends
// can do together; all empty unless kPcie.
struct LinkHop {
  PciAddress upper;
  PciAddress lower;
  HopKind kind = HopKind::kPcie;
  std::string reason; // why it is no ordinary link
  PciLink link; // idle cards show a lower current rate
};

// Copies between host and GPU that somebody measured.
struct HostLinkMeasurement {
  std::optional<GigabytesPerSecond> to_gpu;
  std::optional<GigabytesPerSecond> from_gpu;
  std::string source;
};

struct RouterMapping {
  ThunderboltRoute route;
  Confidence confidence = Confidence::kLow;
  std::string reason;
};

struct Gpu {
  PciAddress address;
  GpuVendor vendor = GpuVendor::kNvidia;
  std::uint32_t vendor_id = 0;
  std::uint32_t device_id = 0;
  std::string model; // NVML's name or the id table's; empty if unknown
  GpuAttachment attachment = GpuAttachment::kSlot;
  bool trainable = false; // egpurun can train here, as far as sysfs tells
  std::string not_trainable_reason; // empty if trainable
  std::optional<GpuUuid> uuid; // NVML's
  std::optional<Bytes> memory; // NVML's
  std::optional<Bytes> bar1; // 0 = present but not assigned
  std::optional<std::string> driver;
  std::optional<std::string> removable;
  std::optional<RouterMapping> router; // kThunderbolt only
  std::optional<std::string> link_group; // LinkGroup::name; none if integrated
  std::vector<LinkHop> path; // root port first
  std::optional<HostLinkMeasurement> measured;
  std::vector<AttributeError> errors;
};

// GPUs that share one cable or root port, so that their rates add up to one.
struct LinkGroup {
  std::string name; // "link-1" in order of `port`
  PciAddress port; // where the shared cable or slot starts
  std::optional<ThunderboltRoute> first_router; // at the cable's far end
  std::vector<PciAddress> gpus;
};

struct NvmlStatus {
  bool probed = false; // false: nothing below is known
  std::optional<std::string> init_error;
  std::optional<std::string> driver_version;
  std::optional<std::string> cuda_driver_version;
};

// Everything known about one PC; a value that can be saved, sent and compared.
struct HostTopology {
  HostFacts host;
  NvmlStatus nvml;
  std::vector<Gpu> gpus; // by PCI address, NVML-only ones never
  std::vector<LinkGroup> link_groups;
  std::vector<ThunderboltDomain> thunderbolt_domains;
  std::vector<ThunderboltRouter> thunderbolt_routers;
  std::vector<ThunderboltPeer> thunderbolt_peers;
  std::vector<NetworkInterface> network_interfaces;
  bool recorded = false; // from a folder, not from the running kernel
};

using Measurements = std::map<PciAddress, HostLinkMeasurement>;

// The facts of one PC before they are joined.
struct HostParts {
  HostFacts host;
  PciTree pci{{}};
  ThunderboltTree thunderbolt;
  std::vector<NetworkInterface> network_interfaces;
  std::optional<NvmlFacts> nvml; // empty = not probed
  Measurements measured;
};

// Pure: finds the GPUs among the parts and says how each is attached.
HostTopology join_host_topology(HostParts parts);

} // namespace egpurun::topology
