#include "topology/views/host_text.h"

#include <fmt/format.h>

#include "topology/views/gpu_text.h"

namespace egpurun::topology {
namespace {

// "rx 2 x 20 Gb/s, tx 2 x 20 Gb/s", or one of them for a symmetric cable.
std::string cable_text(const ThunderboltCable& cable) {
  const auto way = [](std::optional<int> lanes, std::optional<double> speed) {
    return lanes && speed ? fmt::format("{} x {:g} Gb/s", *lanes, *speed) : "";
  };
  const auto rx = way(cable.rx_lanes, cable.rx_gigabits_per_lane);
  const auto tx = way(cable.tx_lanes, cable.tx_gigabits_per_lane);
  if (rx.empty() || tx.empty()) {
    return "";
  }
  return ", cable signals at " + (rx == tx ? rx : rx + " in, " + tx + " out") +
      " (raw, not a GPU's rate)";
}

void add_gpus(const HostTopology& topology, TextNode& root) {
  if (topology.gpus.empty()) {
    root.add("no GPU (no NVIDIA, AMD or Intel display function on PCI)");
    return;
  }
  auto& node = root.add("GPUs", TextColour::kTitle);
  for (const auto& gpu : topology.gpus) {
    add_gpu(topology, gpu, node);
  }
}

void add_shared_links(const HostTopology& topology, TextNode& root) {
  for (const auto& group : topology.link_groups) {
    if (group.gpus.size() < 2) {
      continue;
    }
    auto& node = root.add(
        fmt::format(
            "{} GPUs share {} at {}: together they get one link's rate",
            group.gpus.size(),
            group.name,
            group.port.to_string()),
        TextColour::kWarning);
    for (const auto& gpu : group.gpus) {
      node.add(gpu.to_string());
    }
  }
}

void add_routers(
    const HostTopology& topology,
    const ThunderboltRoute& above,
    TextNode& parent) {
  for (const auto& router : topology.thunderbolt_routers) {
    if (router.route.depth() == 0 || router.route.parent() != above) {
      continue;
    }
    auto label = router.route.to_string() + "  " + router_name(router);
    label += cable_text(router.cable);
    const bool refused = router.authorized == 0;
    label += refused ? ", NOT AUTHORISED: no PCIe (boltctl enroll)" : "";
    auto& node =
        parent.add(label, refused ? TextColour::kWarning : TextColour::kNone);
    add_routers(topology, router.route, node);
  }
}

void add_domain(
    const HostTopology& topology,
    const ThunderboltDomain& domain,
    TextNode& parent) {
  auto label = fmt::format("domain {}", domain.thunderbolt_domain);
  label += domain.nhi ? ", controller " + domain.nhi->to_string() : "";
  label += domain.security ? ", security " + *domain.security : "";
  auto& node = parent.add(label);
  add_routers(topology, {domain.thunderbolt_domain, 0}, node);
  for (const auto& peer : topology.thunderbolt_peers) {
    if (peer.route.thunderbolt_domain == domain.thunderbolt_domain) {
      node.add(fmt::format(
          "{}  another PC: {}{}",
          peer.route.to_string(),
          peer.device_name.empty() ? "no name" : peer.device_name,
          cable_text(peer.cable)));
    }
  }
  if (node.children.empty()) {
    node.add("nothing plugged in");
  }
}

void add_thunderbolt(const HostTopology& topology, TextNode& root) {
  if (topology.thunderbolt_domains.empty()) {
    root.add("no Thunderbolt/USB4 (no controller, or its driver not loaded)");
    return;
  }
  auto& node = root.add("Thunderbolt/USB4", TextColour::kTitle);
  for (const auto& domain : topology.thunderbolt_domains) {
    add_domain(topology, domain, node);
  }
}

std::string interface_text(const NetworkInterface& interface) {
  auto label = interface.name + "  " + name_of(interface.kind);
  label += interface.up ? ", up" : ", down";
  if (interface.speed_megabits) {
    label +=
        fmt::format(", {:g} Gbit/s claimed", *interface.speed_megabits / 1e3);
  }
  label += interface.driver ? ", driver " + *interface.driver : "";
  label += interface.peer ? ", to " + interface.peer->to_string() : "";
  for (const auto& address : interface.addresses) {
    label += ", " + address;
  }
  return label;
}

void add_network(const HostTopology& topology, TextNode& root) {
  auto& node = root.add("network", TextColour::kTitle);
  for (const auto& interface : topology.network_interfaces) {
    if (interface.kind != NetworkKind::kLoopback) {
      node.add(interface_text(interface));
    }
  }
  if (node.children.empty()) {
    node.add("no interface but loopback");
  }
}

std::string nvml_text(const HostTopology& topology) {
  const auto& nvml = topology.nvml;
  if (!nvml.probed) {
    const auto& module = topology.host.nvidia_module_version;
    return "NVML not probed" +
        (module ? ", kernel module nvidia " + *module
                : std::string(", no NVIDIA kernel module loaded"));
  }
  if (nvml.init_error) {
    return "NVML does not start: " + *nvml.init_error;
  }
  return "NVIDIA driver " + nvml.driver_version.value_or("unknown") +
      ", CUDA up to " + nvml.cuda_driver_version.value_or("unknown");
}

void add_host(const HostTopology& topology, TextNode& root) {
  const auto& host = topology.host;
  const auto or_unknown = [](const std::string& text) {
    return text.empty() ? std::string("unknown") : text;
  };
  std::string cpu = "CPU " + or_unknown(host.cpu);
  cpu += host.cores ? fmt::format(", {} cores", *host.cores) : "";
  cpu += host.threads ? fmt::format(", {} threads", *host.threads) : "";
  root.add(cpu);
  root.add("memory " + (host.memory ? size_text(*host.memory) : "unknown"));
  root.add(or_unknown(host.system) + ", Linux " + or_unknown(host.kernel));
  root.add(nvml_text(topology));
}

} // namespace

std::string to_text(const HostTopology& topology, bool use_colour) {
  const auto& host = topology.host;
  TextNode root{
      host.name ? host.name->value : "unnamed PC", {}, TextColour::kTitle};
  root.label += host.product.empty() ? "" : "  (" + host.product + ")";
  root.label += topology.recorded ? "  [recorded machine]" : "";
  add_host(topology, root);
  add_gpus(topology, root);
  add_shared_links(topology, root);
  add_thunderbolt(topology, root);
  add_network(topology, root);
  return render_tree(root, use_colour);
}

} // namespace egpurun::topology
