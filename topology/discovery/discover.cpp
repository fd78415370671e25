#include "topology/discovery/discover.h"

#include <cstdlib>

#include "topology/json_reader.h"

namespace egpurun::topology {
namespace {

// measured.json: {"0000:04:00.0": {"h2d": GB/s, "d2h": GB/s, "source": text}}
struct MeasuredEntry {
  std::optional<GigabytesPerSecond> h2d;
  std::optional<GigabytesPerSecond> d2h;
  std::string source;
};

template <class Visitor>
void fields(Visitor&& v, MeasuredEntry& entry) {
  v("h2d", entry.h2d);
  v("d2h", entry.d2h);
  v("source", entry.source);
}

Measurements parse_measurements(
    const std::string& text,
    const std::string& origin) {
  const JsonReader reader(
      "cannot read the machine's measurements", {.path = origin});
  Measurements result;
  const Json document = reader.parse(text);
  for (const auto& [name, json] : document.items()) {
    PciAddress address;
    reader.read(Json(name), "the key", address);
    MeasuredEntry entry;
    reader.read(json, name, entry);
    result[address] = {entry.h2d, entry.d2h, entry.source};
  }
  return result;
}

void require_machine(const SysfsTree& tree) {
  if (!tree.is_live() && !tree.list("sys").ok()) {
    throw Error(
        ErrorKind::kBadInput,
        "cannot read the machine recorded in " + tree.root().string(),
        "the folder has no sys/",
        "give a folder that holds sys/ and proc/, or leave it out for this PC",
        {.path = tree.root().string()});
  }
}

} // namespace

HostTopology discover_host(const std::filesystem::path& root_or_machine) {
  const SysfsTree tree(root_or_machine);
  require_machine(tree);
  HostParts parts{
      .host = read_host_facts(tree),
      .pci = read_pci_tree(tree),
      .thunderbolt = read_thunderbolt_tree(tree),
      .network_interfaces = read_network_interfaces(tree),
      .nvml = std::nullopt,
      .measured = {}};
  if (tree.is_live()) {
    add_live_addresses(parts.network_interfaces);
    return join_host_topology(std::move(parts));
  }
  if (tree.exists("nvml.json")) {
    parts.nvml = load_nvml_facts(tree.root() / "nvml.json");
  }
  if (tree.exists("measured.json")) {
    parts.measured = parse_measurements(
        tree.read_text("measured.json").value_or(""),
        (tree.root() / "measured.json").string());
  }
  HostTopology topology = join_host_topology(std::move(parts));
  topology.recorded = true;
  return topology;
}

HostTopology discover_live() {
  return discover_host("/");
}

std::filesystem::path default_machine() {
  const char* folder = std::getenv("EGPU_MACHINE");
  return folder != nullptr && *folder != '\0' ? folder : "/";
}

} // namespace egpurun::topology
