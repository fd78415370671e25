#include "topology/nvml/nvml_facts.h"

#include <cerrno>
#include <fstream>
#include <sstream>

#include "topology/json_writer.h"

namespace egpurun::topology {
namespace {

const char kAsked[] = "cannot read NVML's recorded answers";

} // namespace

template <class Visitor>
void fields(Visitor&& v, NvmlPcie& pcie) {
  v("gen_current", pcie.gen_current);
  v("gen_max", pcie.gen_max);
  v("gen_max_device", pcie.gen_max_device);
  v("width_current", pcie.width_current);
  v("width_max", pcie.width_max);
  v("rx_kb_per_s", pcie.rx_kb_per_s);
  v("tx_kb_per_s", pcie.tx_kb_per_s);
  v("replay_counter", pcie.replay_counter);
}

template <class Visitor>
void fields(Visitor&& v, NvmlDevice& gpu) {
  v("index", gpu.index);
  v("uuid", gpu.uuid);
  v("name", gpu.name);
  v("pci_bus_id", gpu.pci_bus_id);
  v("memory_bytes", gpu.memory_bytes);
  v("bar1_bytes", gpu.bar1_bytes);
  v("pcie", gpu.pcie);
  v("power_limit_w", gpu.power_limit_w);
  v("power_usage_w", gpu.power_usage_w);
  v("clocks_event_reasons", gpu.clocks_event_reasons);
  v("performance_state", gpu.performance_state);
  v("temperature_c", gpu.temperature_c);
  v("utilization_gpu_percent", gpu.utilization_gpu_percent);
  v("persistence_mode", gpu.persistence_mode);
  v("errors", gpu.errors);
}

template <class Visitor>
void fields(Visitor&& v, NvmlFacts& facts) {
  v("init_error", facts.init_error);
  v("driver_version", facts.driver_version);
  v("cuda_driver_version", facts.cuda_driver_version);
  v("devices", facts.devices);
}

NvmlFacts parse_nvml_facts(const std::string& text, const std::string& origin) {
  const JsonReader reader(kAsked, {.path = origin});
  NvmlFacts facts;
  reader.read(reader.parse(text), "nvml", facts);
  return facts;
}

std::string format_nvml_facts(NvmlFacts facts) {
  return JsonWriter::write(facts).dump(
             2, ' ', false, Json::error_handler_t::replace) +
      "\n";
}

NvmlFacts load_nvml_facts(const std::filesystem::path& path) {
  std::error_code error;
  // A pipe would make us wait for ever.
  const bool readable = std::filesystem::is_regular_file(path, error);
  std::ostringstream text;
  std::ifstream file;
  if (readable) {
    file.open(path);
    text << file.rdbuf();
  }
  if (!readable || !file.is_open()) {
    throw Error(
        ErrorKind::kBadInput,
        kAsked,
        error ? error.message()
              : (readable ? errno_text(errno) : "not an ordinary file"),
        "check the file's name and permissions",
        {.path = path.string()});
  }
  return parse_nvml_facts(text.str(), path.string());
}

void save_nvml_facts(
    const std::filesystem::path& path,
    const NvmlFacts& facts) {
  std::ofstream file(path);
  file << format_nvml_facts(facts) << std::flush;
  if (!file) {
    throw Error(
        ErrorKind::kEnvironment,
        "cannot save NVML's answers",
        errno_text(errno),
        "check the folder's permissions and free space",
        {.path = path.string()});
  }
}

} // namespace egpurun::topology
