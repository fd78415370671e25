#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "topology/json_reader.h"

namespace egpurun::topology {

// What NVML answered, and nothing else: no joining, no judging. Empty fields
// are calls that failed; their NVML error is in `errors`.

// Link of a GPU as its own end sees it; idle cards report a lower generation.
struct NvmlPcie {
  std::optional<int> gen_current;
  std::optional<int> gen_max; // of card and slot together
  std::optional<int> gen_max_device;
  std::optional<int> width_current; // lanes
  std::optional<int> width_max;
  std::optional<std::int64_t> rx_kb_per_s; // averaged over 20 ms
  std::optional<std::int64_t> tx_kb_per_s;
  std::optional<std::int64_t> replay_counter;
};

struct NvmlDevice {
  std::optional<int> index; // NVML's order, not CUDA's
  std::optional<GpuUuid> uuid;
  std::optional<std::string> name;
  std::optional<PciAddress> pci_bus_id;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> bar1_bytes;
  std::optional<NvmlPcie> pcie;
  std::optional<double> power_limit_w;
  std::optional<double> power_usage_w;
  std::optional<std::uint64_t> clocks_event_reasons; // bit mask
  std::optional<int> performance_state; // 0 = P0, fastest
  std::optional<int> temperature_c;
  std::optional<int> utilization_gpu_percent;
  std::optional<bool> persistence_mode;
  std::optional<std::map<std::string, std::string>> errors; // call: error name
};

struct NvmlFacts {
  std::optional<std::string> init_error; // NVML's name of it
  std::optional<std::string> driver_version;
  std::optional<std::string> cuda_driver_version;
  std::vector<NvmlDevice> devices;
};

// `origin` is the file's path, for errors (Error, kBadInput).
NvmlFacts parse_nvml_facts(const std::string& text, const std::string& origin);
std::string format_nvml_facts(NvmlFacts facts);

// Read and write a machine's nvml.json. Throw Error (kBadInput, kEnvironment).
NvmlFacts load_nvml_facts(const std::filesystem::path& path);
void save_nvml_facts(const std::filesystem::path& path, const NvmlFacts& facts);

} // namespace egpurun::topology
