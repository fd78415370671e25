#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "topology/ids.h"
#include "topology/sysfs/sysfs_tree.h"
#include "topology/units.h"

namespace egpurun::topology {

// One end of a PCIe link as its registers claim. Tunnelled ports always claim
// 2.5 GT/s, so these numbers alone say nothing about a Thunderbolt link.
struct PciLink {
  std::optional<double> current_gigatransfers; // GT/s per lane
  std::optional<double> max_gigatransfers;
  std::optional<int> current_lanes;
  std::optional<int> max_lanes; // 255 when the registers read as all-ones
};

// A memory window of a function. Size 0 = not assigned by firmware or kernel.
struct PciBar {
  int index = 0; // 0 to 5
  Bytes size;
  bool prefetchable = false;
};

// A sysfs attribute that is there but cannot be read.
struct AttributeError {
  std::string attribute;
  std::string error; // errno name
};

struct PciDevice {
  PciAddress address;
  std::optional<PciAddress> parent; // the bridge above; none on a root bus
  std::string path; // below the root: "sys/devices/pci0000:00/..."
  std::uint32_t vendor_id = 0; // 0 = unreadable
  std::uint32_t device_id = 0;
  std::uint32_t class_code = 0; // 24 bits: class, subclass, interface
  PciLink link;
  std::vector<PciBar> bars;
  std::optional<std::string> driver;
  std::optional<std::string> removable; // "removable", "fixed", "unknown"
  std::optional<int> numa_index; // none on ordinary PCs (-1 in sysfs)
  std::vector<PciAddress> consumers; // device links; ports of a Thunderbolt NHI
  std::vector<PciAddress> suppliers;
  std::vector<AttributeError> errors;

  bool is_bridge() const {
    return (class_code >> 8) == 0x0604;
  }
  // Display controllers: VGA 0x0300, 3D 0x0302 (most laptop GPUs), other.
  bool is_display() const {
    return (class_code >> 16) == 0x03;
  }
};

class PciTree {
 public:
  explicit PciTree(std::vector<PciDevice> devices);

  const std::map<PciAddress, PciDevice>& devices() const {
    return devices_;
  }
  // nullptr if there is no such function.
  const PciDevice* find(const PciAddress& address) const;
  // The function and every bridge above it, root port first.
  std::vector<const PciDevice*> chain(const PciAddress& address) const;
  // Functions directly below a bridge.
  std::vector<const PciDevice*> children(const PciAddress& bridge) const;

 private:
  std::map<PciAddress, PciDevice> devices_;
};

// All PCI functions below sys/bus/pci/devices; empty if there is no PCI bus.
PciTree read_pci_tree(const SysfsTree& tree);

// "16.0 GT/s PCIe" -> 16; empty for "Unknown" and anything else.
std::optional<double> parse_link_speed(const std::string& text);
// Lines "start end flags" of the `resource` attribute; BARs that exist only.
std::vector<PciBar> parse_bars(const std::string& resource);

} // namespace egpurun::topology
