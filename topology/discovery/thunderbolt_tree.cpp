#include "topology/discovery/thunderbolt_tree.h"

#include <algorithm>

#include "topology/sysfs/number_text.h"

namespace egpurun::topology {
namespace {

const char kThunderboltDevices[] = "sys/bus/thunderbolt/devices/";

// Attributes of one object on the Thunderbolt bus; unreadable ones are empty.
class ObjectReader {
 public:
  ObjectReader(const SysfsTree& tree, const std::string& name)
      : tree_(tree), folder_(kThunderboltDevices + name + "/") {}

  std::optional<std::string> text(const std::string& attribute) const {
    const auto reading = tree_.read_text(folder_ + attribute);
    return reading.ok() && !reading.value().empty()
        ? std::optional(reading.value())
        : std::nullopt;
  }
  std::optional<int> small_number(const std::string& attribute) const {
    const auto number = parse_unsigned(text(attribute).value_or(""));
    return number && *number < 256 ? std::optional(static_cast<int>(*number))
                                   : std::nullopt;
  }
  std::optional<bool> flag(const std::string& attribute) const {
    const auto number = small_number(attribute);
    return number ? std::optional(*number != 0) : std::nullopt;
  }
  ThunderboltCable cable() const {
    return {
        parse_lane_speed(text("rx_speed").value_or("")),
        parse_lane_speed(text("tx_speed").value_or("")),
        small_number("rx_lanes"),
        small_number("tx_lanes")};
  }
  bool has(const std::string& attribute) const {
    return tree_.exists(folder_ + attribute);
  }
  // The type the kernel gives the object; empty in a thin recording.
  std::string device_type() const {
    const auto uevent = text("uevent").value_or("");
    const std::string key = "DEVTYPE=";
    const auto start = uevent.find(key);
    return start == std::string::npos
        ? ""
        : uevent.substr(
              start + key.size(),
              uevent.find('\n', start) - start - key.size());
  }
  // The PCI function that holds this object.
  std::optional<PciAddress> parent_function() const {
    auto path = tree_.resolve(folder_).value_or("");
    const auto slash = path.rfind('/');
    return slash == std::string::npos
        ? std::nullopt
        : PciAddress::parse(last_name(path.substr(0, slash)));
  }

 private:
  const SysfsTree& tree_;
  std::string folder_;
};

std::optional<ThunderboltDomain> read_domain(
    const ObjectReader& reader,
    const std::string& name) {
  const std::string prefix = "domain";
  const auto number = name.starts_with(prefix)
      ? parse_unsigned(name.substr(prefix.size()))
      : std::nullopt;
  if (!number || *number > 0xffff) {
    return std::nullopt;
  }
  return ThunderboltDomain{
      static_cast<std::uint32_t>(*number),
      reader.parent_function(),
      reader.text("security"),
      reader.flag("iommu_dma_protection")};
}

bool is_peer(const ObjectReader& reader, const ThunderboltRoute& route) {
  const auto type = reader.device_type();
  if (!type.empty()) {
    return type == "thunderbolt_xdomain";
  }
  return route.depth() > 0 && reader.has("maxhopid") &&
      !reader.has("authorized");
}

ThunderboltRouter read_router(
    const ObjectReader& reader,
    const ThunderboltRoute& route) {
  return {
      route,
      reader.text("vendor_name").value_or(""),
      reader.text("device_name").value_or(""),
      reader.small_number("generation"),
      reader.small_number("authorized"),
      reader.flag("boot"),
      reader.cable()};
}

} // namespace

ThunderboltTree read_thunderbolt_tree(const SysfsTree& tree) {
  ThunderboltTree result;
  for (const auto& name : tree.list(kThunderboltDevices).value_or({})) {
    const ObjectReader reader(tree, name);
    if (const auto domain = read_domain(reader, name)) {
      result.domains.push_back(*domain);
      continue;
    }
    // Services "0-1.0" and retimers "0-1:2.1" are no routes.
    const auto route = ThunderboltRoute::parse(name);
    if (route && is_peer(reader, *route)) {
      result.peers.push_back(
          {*route,
           reader.text("vendor_name").value_or(""),
           reader.text("device_name").value_or(""),
           reader.cable()});
    } else if (route) {
      result.routers.push_back(read_router(reader, *route));
    }
  }
  const auto by_route = [](const auto& a, const auto& b) {
    return a.route < b.route;
  };
  std::sort(result.routers.begin(), result.routers.end(), by_route);
  std::sort(result.peers.begin(), result.peers.end(), by_route);
  std::sort(
      result.domains.begin(),
      result.domains.end(),
      [](const auto& a, const auto& b) {
        return a.thunderbolt_domain < b.thunderbolt_domain;
      });
  return result;
}

std::optional<double> parse_lane_speed(const std::string& text) {
  return parse_quantity(text, "Gb/s");
}

} // namespace egpurun::topology
