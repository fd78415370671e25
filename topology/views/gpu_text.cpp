#include "topology/views/gpu_text.h"

#include <fmt/format.h>

namespace egpurun::topology {
namespace {

std::string vendor_text(GpuVendor vendor) {
  switch (vendor) {
    case GpuVendor::kNvidia:
      return "NVIDIA";
    case GpuVendor::kAmd:
      return "AMD";
    case GpuVendor::kIntel:
      return "Intel";
  }
  return "";
}

std::string attachment_text(GpuAttachment attachment) {
  switch (attachment) {
    case GpuAttachment::kThunderbolt:
      return "Thunderbolt/USB4";
    case GpuAttachment::kSlot:
      return "slot, OCuLink or M.2";
    case GpuAttachment::kIntegrated:
      return "part of the CPU";
    case GpuAttachment::kLaptopDiscrete:
      return "built into the laptop";
  }
  return "";
}

std::string model_text(const Gpu& gpu) {
  const auto vendor = vendor_text(gpu.vendor);
  if (gpu.model.empty()) {
    return fmt::format(
        "{} GPU [{:04x}:{:04x}]", vendor, gpu.vendor_id, gpu.device_id);
  }
  return gpu.model.starts_with(vendor) ? gpu.model : vendor + " " + gpu.model;
}

std::string hop_text(const LinkHop& hop) {
  switch (hop.kind) {
    case HopKind::kTunnel:
      return "═ cable ═";
    case HopKind::kInternal:
      return "─";
    case HopKind::kPcie:
      break;
  }
  if (!hop.link.max_gigatransfers || !hop.link.max_lanes) {
    return "─ PCIe ─";
  }
  return fmt::format(
      "─ PCIe up to {:g} GT/s x{} ─",
      *hop.link.max_gigatransfers,
      *hop.link.max_lanes);
}

std::string path_text(const Gpu& gpu) {
  std::string text;
  for (const auto& hop : gpu.path) {
    text += hop.upper.to_string() + " " + hop_text(hop) + " ";
  }
  return text + gpu.address.to_string();
}

const ThunderboltRouter* find_router(
    const HostTopology& topology,
    const ThunderboltRoute& route) {
  for (const auto& router : topology.thunderbolt_routers) {
    if (router.route == route) {
      return &router;
    }
  }
  return nullptr;
}

std::string measured_text(const HostLinkMeasurement& measured) {
  const auto rate = [](std::optional<GigabytesPerSecond> value) {
    return value ? fmt::format("{:.2f} GB/s", value->value) : "unknown";
  };
  return fmt::format(
      "host link measured: {} to the GPU, {} back ({})",
      rate(measured.to_gpu),
      rate(measured.from_gpu),
      measured.source);
}

void add_gpu_router(
    const HostTopology& topology,
    const Gpu& gpu,
    TextNode& node) {
  if (!gpu.router) {
    if (gpu.attachment == GpuAttachment::kThunderbolt) {
      node.add(
          "in a Thunderbolt box, which one is not known", TextColour::kWarning);
    }
    return;
  }
  const auto* router = find_router(topology, gpu.router->route);
  node.add(fmt::format(
      "in {} \"{}\" (confidence {}: {})",
      gpu.router->route.to_string(),
      router == nullptr ? "?" : router_name(*router),
      name_of(gpu.router->confidence),
      gpu.router->reason));
}

} // namespace

std::string size_text(Bytes size) {
  const double mebibytes = size.mebibytes();
  return mebibytes >= 1024 ? fmt::format("{:.3g} GiB", mebibytes / 1024)
                           : fmt::format("{:.4g} MiB", mebibytes);
}

std::string router_name(const ThunderboltRouter& router) {
  const auto name = router.vendor_name +
      (router.vendor_name.empty() || router.device_name.empty() ? "" : " ") +
      router.device_name;
  return name.empty() ? (router.route.depth() == 0 ? "this PC" : "no name")
                      : name;
}

void add_gpu(const HostTopology& topology, const Gpu& gpu, TextNode& parent) {
  auto title = gpu.address.to_string() + "  " + model_text(gpu);
  title += gpu.memory ? ", " + size_text(*gpu.memory) : "";
  title += ", " + attachment_text(gpu.attachment);
  title += gpu.link_group ? ", " + *gpu.link_group : "";
  title +=
      gpu.trainable ? "" : ", not trainable here: " + gpu.not_trainable_reason;
  const bool problem = !gpu.trainable && gpu.vendor == GpuVendor::kNvidia;
  auto& node = parent.add(
      title,
      gpu.trainable ? TextColour::kGood
          : problem ? TextColour::kWarning
                    : TextColour::kNone);
  add_gpu_router(topology, gpu, node);
  if (!gpu.path.empty()) {
    node.add("path " + path_text(gpu));
  }
  if (gpu.bar1) {
    node.add(
        "BAR1 " +
        (*gpu.bar1 == Bytes{0} ? "not assigned" : size_text(*gpu.bar1)));
  }
  if (gpu.vendor == GpuVendor::kNvidia) {
    node.add("driver " + gpu.driver.value_or("none"));
    node.add(
        gpu.measured ? measured_text(*gpu.measured) : "host link not measured");
  }
  for (const auto& error : gpu.errors) {
    node.add(
        error.attribute + " cannot be read: " + error.error,
        TextColour::kWarning);
  }
}

} // namespace egpurun::topology
