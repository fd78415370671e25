#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace egpurun::topology {

// Address of a PCI function, "0000:04:00.0"; ordered as lspci prints it.
struct PciAddress {
  std::uint32_t pci_domain = 0;
  std::uint8_t bus = 0;
  std::uint8_t slot = 0; // 0 to 31
  std::uint8_t function = 0; // 0 to 7

  auto operator<=>(const PciAddress&) const = default;
  // Accepts NVML's eight-digit domain too. Empty for anything else.
  static std::optional<PciAddress> parse(std::string_view text);
  std::string to_string() const;
  // True for functions of one card or chip.
  bool same_slot(const PciAddress& other) const;
};

// NVML's name of a GPU, "GPU-" and a UUID; the only name that survives
// re-plugging and re-ordering. MIG devices ("MIG-...") are accepted.
struct GpuUuid {
  std::string value;

  auto operator<=>(const GpuUuid&) const = default;
  static std::optional<GpuUuid> parse(std::string_view text);
  const std::string& to_string() const {
    return value;
  }
};

// Name of a Thunderbolt/USB4 router, "<domain>-<route>". The route is
// hexadecimal without leading zeros, one byte per hop, the lowest byte being
// the host router's downstream adapter (kernel: drivers/thunderbolt/tb.h).
struct ThunderboltRoute {
  std::uint32_t thunderbolt_domain = 0;
  std::uint64_t route = 0;

  auto operator<=>(const ThunderboltRoute&) const = default;
  static std::optional<ThunderboltRoute> parse(std::string_view text);
  std::string to_string() const;
  // Cables between the host and this router; 0 is the host router itself.
  int depth() const;
  // Host adapter the cable is plugged into. Routers of one domain with the
  // same first hop share that cable.
  std::uint8_t first_hop() const {
    return static_cast<std::uint8_t>(route & 0xff);
  }
  // The router one cable nearer to the host; itself for the host router.
  ThunderboltRoute parent() const;
};

// A host's name as the kernel reports it; never resolved or completed.
struct HostName {
  std::string value;

  auto operator<=>(const HostName&) const = default;
  // Letters, digits, '.', '-' and '_', 1 to 253 characters.
  static std::optional<HostName> parse(std::string_view text);
  const std::string& to_string() const {
    return value;
  }
};

} // namespace egpurun::topology

namespace egpurun {
using topology::GpuUuid;
using topology::HostName;
using topology::PciAddress;
using topology::ThunderboltRoute;
} // namespace egpurun
