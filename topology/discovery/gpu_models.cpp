#include "topology/discovery/gpu_models.h"

#include <algorithm>
#include <iterator>

namespace egpurun::topology {
namespace {

struct GpuModel {
  std::uint32_t vendor_id;
  std::uint32_t device_id;
  const char* name;
};

// From the public PCI id list (pci-ids.ucw.cz), the cards seen in eGPU boxes.
constexpr GpuModel kModels[] = {
    {kVendorNvidia, 0x1b06, "GeForce GTX 1080 Ti"},
    {kVendorNvidia, 0x1e07, "GeForce RTX 2080 Ti"},
    {kVendorNvidia, 0x1f08, "GeForce RTX 2060"},
    {kVendorNvidia, 0x1f91, "GeForce GTX 1650 Mobile / Max-Q"},
    {kVendorNvidia, 0x2204, "GeForce RTX 3090"},
    {kVendorNvidia, 0x2206, "GeForce RTX 3080"},
    {kVendorNvidia, 0x2231, "RTX A5000"},
    {kVendorNvidia, 0x2504, "GeForce RTX 3060"},
    {kVendorNvidia, 0x2520, "GeForce RTX 3060 Mobile / Max-Q"},
    {kVendorNvidia, 0x2684, "GeForce RTX 4090"},
    {kVendorNvidia, 0x2704, "GeForce RTX 4080"},
    {kVendorNvidia, 0x2b85, "GeForce RTX 5090"},
    {kVendorNvidia, 0x2c02, "GeForce RTX 5080"},
    {kVendorNvidia, 0x2c05, "GeForce RTX 5070 Ti"},
    {kVendorAmd, 0x731f, "Radeon RX 5700 XT"},
    {kVendorAmd, 0x73bf, "Radeon RX 6800/6900 XT"},
    {kVendorAmd, 0x744c, "Radeon RX 7900 XT/XTX"},
    {kVendorAmd, 0x15bf, "Radeon 780M"},
    {kVendorIntel, 0x7d55, "Arc Graphics (Meteor Lake)"},
    {kVendorIntel, 0x9a49, "Iris Xe Graphics (Tiger Lake)"},
    {kVendorIntel, 0x46a6, "Iris Xe Graphics (Alder Lake)"},
};

struct PciId {
  std::uint32_t vendor_id;
  std::uint32_t device_id;
};

// Alpine, Titan, Goshen and Barlow Ridge; ASMedia 246x.
constexpr PciId kDockBridges[] = {
    {kVendorIntel, 0x1578},
    {kVendorIntel, 0x15d3},
    {kVendorIntel, 0x15da},
    {kVendorIntel, 0x15ea},
    {kVendorIntel, 0x15ef},
    {kVendorIntel, 0x0b26},
    {kVendorIntel, 0x5786},
    {0x1b21, 0x2463},
};

constexpr PciId kAmdCardSwitches[] = {
    {kVendorAmd, 0x1478},
    {kVendorAmd, 0x1479},
};

template <class Table>
const auto* find_ids(
    const Table& table,
    std::uint32_t vendor_id,
    std::uint32_t device_id) {
  const auto row =
      std::find_if(std::begin(table), std::end(table), [&](const auto& entry) {
        return entry.vendor_id == vendor_id && entry.device_id == device_id;
      });
  return row == std::end(table) ? nullptr : &*row;
}

} // namespace

std::string gpu_model_name(std::uint32_t vendor_id, std::uint32_t device_id) {
  const auto* row = find_ids(kModels, vendor_id, device_id);
  return row == nullptr ? "" : row->name;
}

bool is_dock_bridge(std::uint32_t vendor_id, std::uint32_t device_id) {
  return find_ids(kDockBridges, vendor_id, device_id) != nullptr;
}

bool is_amd_card_switch(std::uint32_t vendor_id, std::uint32_t device_id) {
  return find_ids(kAmdCardSwitches, vendor_id, device_id) != nullptr;
}

} // namespace egpurun::topology
