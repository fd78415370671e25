#include "topology/discovery/pci_tree.h"

#include <algorithm>
#include <cerrno>
#include <sstream>

#include "topology/sysfs/errno_name.h"
#include "topology/sysfs/number_text.h"

namespace egpurun::topology {
namespace {

const char kPciDevices[] = "sys/bus/pci/devices";

// include/linux/ioport.h
constexpr std::uint64_t kResourcePrefetch = 0x2000;
constexpr std::uint64_t kResourceMemory = 0x200;

// Reads the attributes of one function and keeps what could not be read.
class FunctionReader {
 public:
  FunctionReader(const SysfsTree& tree, PciDevice& function)
      : tree_(tree), function_(function) {}

  std::optional<std::string> text(const std::string& attribute) {
    const auto reading = tree_.read_text(function_.path + "/" + attribute);
    if (reading.ok()) {
      return reading.value();
    }
    if (reading.errno_value() != ENOENT) {
      function_.errors.push_back(
          {attribute, errno_name(reading.errno_value())});
    }
    return std::nullopt;
  }

  std::uint32_t id(const std::string& attribute) {
    const auto number = parse_unsigned(text(attribute).value_or(""));
    return number && *number <= 0xffffff ? static_cast<std::uint32_t>(*number)
                                         : 0;
  }

  std::optional<int> lanes(const std::string& attribute) {
    const auto number = parse_unsigned(text(attribute).value_or(""));
    if (!number || *number == 0 || *number > 255) {
      return std::nullopt;
    }
    return static_cast<int>(*number);
  }

  std::optional<double> speed(const std::string& attribute) {
    return parse_link_speed(text(attribute).value_or(""));
  }

 private:
  const SysfsTree& tree_;
  PciDevice& function_;
};

// The last PCI address in "sys/devices/pci0000:00/0000:00:07.0/0000:02:00.0"
// before the function's own.
std::optional<PciAddress> parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos
      ? std::nullopt
      : PciAddress::parse(last_name(path.substr(0, slash)));
}

void read_device_links(const SysfsTree& tree, PciDevice& function) {
  for (const auto& name : tree.list(function.path).value_or({})) {
    for (const std::string prefix : {"consumer:pci:", "supplier:pci:"}) {
      const auto address = name.starts_with(prefix)
          ? PciAddress::parse(name.substr(prefix.size()))
          : std::nullopt;
      if (address) {
        auto& list = prefix[0] == 'c' ? function.consumers : function.suppliers;
        list.push_back(*address);
      }
    }
  }
}

PciDevice read_function(
    const SysfsTree& tree,
    const PciAddress& address,
    const std::string& path) {
  PciDevice function;
  function.address = address;
  function.parent = parent_of(path);
  function.path = path;
  FunctionReader reader(tree, function);
  function.vendor_id = reader.id("vendor");
  function.device_id = reader.id("device");
  function.class_code = reader.id("class");
  function.link.current_gigatransfers = reader.speed("current_link_speed");
  function.link.max_gigatransfers = reader.speed("max_link_speed");
  function.link.current_lanes = reader.lanes("current_link_width");
  function.link.max_lanes = reader.lanes("max_link_width");
  function.bars = parse_bars(reader.text("resource").value_or(""));
  function.removable = reader.text("removable");
  const auto numa = parse_integer(reader.text("numa_node").value_or(""));
  if (numa && *numa >= 0 && *numa < 4096) {
    function.numa_index = static_cast<int>(*numa);
  }
  const auto driver = tree.read_link(path + "/driver");
  if (driver.ok()) {
    function.driver = last_name(driver.value());
  }
  read_device_links(tree, function);
  return function;
}

} // namespace

PciTree::PciTree(std::vector<PciDevice> devices) {
  for (auto& function : devices) {
    devices_.emplace(function.address, std::move(function));
  }
}

const PciDevice* PciTree::find(const PciAddress& address) const {
  const auto found = devices_.find(address);
  return found == devices_.end() ? nullptr : &found->second;
}

std::vector<const PciDevice*> PciTree::chain(const PciAddress& address) const {
  std::vector<const PciDevice*> chain;
  const PciDevice* function = find(address);
  // A path names every bridge, so a chain longer than 256 buses is a loop.
  while (function != nullptr && chain.size() < 256) {
    chain.insert(chain.begin(), function);
    function = function->parent ? find(*function->parent) : nullptr;
  }
  return chain;
}

std::vector<const PciDevice*> PciTree::children(
    const PciAddress& bridge) const {
  std::vector<const PciDevice*> result;
  for (const auto& [address, function] : devices_) {
    if (function.parent == bridge) {
      result.push_back(&function);
    }
  }
  return result;
}

PciTree read_pci_tree(const SysfsTree& tree) {
  std::vector<PciDevice> functions;
  for (const auto& name : tree.list(kPciDevices).value_or({})) {
    const auto address = PciAddress::parse(name);
    const auto path = tree.resolve(std::string(kPciDevices) + "/" + name);
    if (address && path.ok()) {
      functions.push_back(read_function(tree, *address, path.value()));
    }
  }
  return PciTree(std::move(functions));
}

std::optional<double> parse_link_speed(const std::string& text) {
  return parse_quantity(text, "GT/s");
}

std::vector<PciBar> parse_bars(const std::string& resource) {
  std::vector<PciBar> bars;
  std::istringstream lines(resource);
  std::string line;
  for (int index = 0; index < 6 && std::getline(lines, line); ++index) {
    std::istringstream columns(line);
    std::string start_text, end_text, flags_text;
    columns >> start_text >> end_text >> flags_text;
    const auto start = parse_unsigned(start_text);
    const auto end = parse_unsigned(end_text);
    const auto flags = parse_unsigned(flags_text);
    // A BAR that is there but unassigned keeps its flags.
    if (!start || !end || !flags || (*flags & kResourceMemory) == 0) {
      continue;
    }
    const bool assigned = *end > *start;
    bars.push_back(
        {index,
         Bytes{assigned ? *end - *start + 1 : 0},
         (*flags & kResourcePrefetch) != 0});
  }
  return bars;
}

} // namespace egpurun::topology
