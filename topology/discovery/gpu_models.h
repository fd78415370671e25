#pragma once

#include <cstdint>
#include <string>

namespace egpurun::topology {

constexpr std::uint32_t kVendorNvidia = 0x10de;
constexpr std::uint32_t kVendorAmd = 0x1002;
constexpr std::uint32_t kVendorAmdCpu = 0x1022; // AMD's ids outside of GPUs
constexpr std::uint32_t kVendorIntel = 0x8086;

// Name of a GPU by its PCI ids, for when NVML is silent; empty if not listed.
std::string gpu_model_name(std::uint32_t vendor_id, std::uint32_t device_id);

// Bridges of Thunderbolt/USB4 docks and boxes: a hint only, tables age.
bool is_dock_bridge(std::uint32_t vendor_id, std::uint32_t device_id);

// The PCIe switch on an AMD card, between its connector and its GPU.
bool is_amd_card_switch(std::uint32_t vendor_id, std::uint32_t device_id);

} // namespace egpurun::topology
