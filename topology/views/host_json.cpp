#include "topology/views/host_json.h"

#include "topology/json_reader.h"
#include "topology/json_writer.h"
#include "topology/printable_text.h"

namespace egpurun::topology {

template <class Visitor>
void fields(Visitor&& v, HostFacts& host) {
  v("name", host.name);
  v("product", host.product);
  v("is_laptop", host.is_laptop);
  v("system", host.system);
  v("kernel", host.kernel);
  v("cpu", host.cpu);
  v("cores", host.cores);
  v("threads", host.threads);
  v("memory_bytes", host.memory);
  v("nvidia_module_version", host.nvidia_module_version);
}

template <class Visitor>
void fields(Visitor&& v, NvmlStatus& nvml) {
  v("probed", nvml.probed);
  v("init_error", nvml.init_error);
  v("driver_version", nvml.driver_version);
  v("cuda_driver_version", nvml.cuda_driver_version);
}

template <class Visitor>
void fields(Visitor&& v, AttributeError& error) {
  v("attribute", error.attribute);
  v("error", error.error);
}

template <class Visitor>
void fields(Visitor&& v, PciLink& link) {
  v("current_gigatransfers", link.current_gigatransfers);
  v("max_gigatransfers", link.max_gigatransfers);
  v("current_lanes", link.current_lanes);
  v("max_lanes", link.max_lanes);
}

template <class Visitor>
void fields(Visitor&& v, LinkHop& hop) {
  v("upper", hop.upper);
  v("lower", hop.lower);
  v("kind", hop.kind);
  v("reason", hop.reason);
  v("link", hop.link);
}

template <class Visitor>
void fields(Visitor&& v, HostLinkMeasurement& measured) {
  v("to_gpu_gigabytes_per_s", measured.to_gpu);
  v("from_gpu_gigabytes_per_s", measured.from_gpu);
  v("source", measured.source);
}

template <class Visitor>
void fields(Visitor&& v, RouterMapping& router) {
  v("route", router.route);
  v("confidence", router.confidence);
  v("reason", router.reason);
}

template <class Visitor>
void fields(Visitor&& v, Gpu& gpu) {
  v("address", gpu.address);
  v("vendor", gpu.vendor);
  v("vendor_id", gpu.vendor_id);
  v("device_id", gpu.device_id);
  v("model", gpu.model);
  v("attachment", gpu.attachment);
  v("trainable", gpu.trainable);
  v("not_trainable_reason", gpu.not_trainable_reason);
  v("uuid", gpu.uuid);
  v("memory_bytes", gpu.memory);
  v("bar1_bytes", gpu.bar1);
  v("driver", gpu.driver);
  v("removable", gpu.removable);
  v("router", gpu.router);
  v("link_group", gpu.link_group);
  v("path", gpu.path);
  v("measured", gpu.measured);
  v("errors", gpu.errors);
}

template <class Visitor>
void fields(Visitor&& v, LinkGroup& group) {
  v("name", group.name);
  v("port", group.port);
  v("first_router", group.first_router);
  v("gpus", group.gpus);
}

template <class Visitor>
void fields(Visitor&& v, ThunderboltDomain& domain) {
  v("thunderbolt_domain", domain.thunderbolt_domain);
  v("nhi", domain.nhi);
  v("security", domain.security);
  v("iommu_protection", domain.iommu_protection);
}

template <class Visitor>
void fields(Visitor&& v, ThunderboltCable& cable) {
  v("rx_gigabits_per_lane", cable.rx_gigabits_per_lane);
  v("tx_gigabits_per_lane", cable.tx_gigabits_per_lane);
  v("rx_lanes", cable.rx_lanes);
  v("tx_lanes", cable.tx_lanes);
}

template <class Visitor>
void fields(Visitor&& v, ThunderboltRouter& router) {
  v("route", router.route);
  v("vendor_name", router.vendor_name);
  v("device_name", router.device_name);
  v("generation", router.generation);
  v("authorized", router.authorized);
  v("boot", router.boot);
  v("cable", router.cable);
}

template <class Visitor>
void fields(Visitor&& v, ThunderboltPeer& peer) {
  v("route", peer.route);
  v("vendor_name", peer.vendor_name);
  v("device_name", peer.device_name);
  v("cable", peer.cable);
}

template <class Visitor>
void fields(Visitor&& v, NetworkInterface& interface) {
  v("name", interface.name);
  v("kind", interface.kind);
  v("up", interface.up);
  v("speed_megabits", interface.speed_megabits);
  v("mtu", interface.mtu);
  v("driver", interface.driver);
  v("mac", interface.mac);
  v("addresses", interface.addresses);
  v("pci_address", interface.pci_address);
  v("peer", interface.peer);
}

template <class Visitor>
void fields(Visitor&& v, HostTopology& topology) {
  v("recorded", topology.recorded);
  v("host", topology.host);
  v("nvml", topology.nvml);
  v("gpus", topology.gpus);
  v("link_groups", topology.link_groups);
  v("thunderbolt_domains", topology.thunderbolt_domains);
  v("thunderbolt_routers", topology.thunderbolt_routers);
  v("thunderbolt_peers", topology.thunderbolt_peers);
  v("network_interfaces", topology.network_interfaces);
}

std::string to_json(HostTopology topology) {
  Json document;
  document["schema_version"] = kSchemaVersion;
  document.update(JsonWriter::write(topology));
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

HostTopology from_json(const std::string& text, const std::string& origin) {
  const std::string asked = "cannot read a host topology";
  const JsonReader reader(asked, {.path = origin});
  const Json document = reader.parse(text);
  const Json version =
      document.is_object() ? document.value("schema_version", Json()) : Json();
  if (version != kSchemaVersion) {
    throw Error(
        ErrorKind::kBadInput,
        asked,
        "schema_version is " + printable_text(version.dump(-1, ' ', true)),
        "use the same egpurun on every PC; this one reads version " +
            std::to_string(kSchemaVersion),
        {.path = origin});
  }
  HostTopology topology;
  reader.read(document, "topology", topology);
  return topology;
}

} // namespace egpurun::topology
