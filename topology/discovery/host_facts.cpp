#include "topology/discovery/host_facts.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "topology/sysfs/number_text.h"

namespace egpurun::topology {
namespace {

std::string trimmed(const std::string& text) {
  const char* blanks = " \t\"";
  const auto first = text.find_first_not_of(blanks);
  return first == std::string::npos
      ? ""
      : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// Value of the first line that starts with `key` and the separator.
std::string value_of(
    const std::string& text,
    const std::string& key,
    char separator) {
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    const auto place = line.find(separator);
    if (place != std::string::npos && trimmed(line.substr(0, place)) == key) {
      return trimmed(line.substr(place + 1));
    }
  }
  return "";
}

void read_cpu(const std::string& cpuinfo, HostFacts& facts) {
  facts.cpu = value_of(cpuinfo, "model name", ':');
  std::set<std::string> cores;
  int threads = 0;
  std::string package;
  std::istringstream lines(cpuinfo);
  std::string line;
  while (std::getline(lines, line)) {
    if (line.starts_with("processor")) {
      ++threads;
    } else if (line.starts_with("physical id")) {
      package = line;
    } else if (line.starts_with("core id")) {
      cores.insert(package + line);
    }
  }
  if (threads > 0) {
    facts.threads = threads;
  }
  if (!cores.empty()) {
    facts.cores = static_cast<int>(cores.size());
  }
}

std::optional<Bytes> parse_memory(const std::string& meminfo) {
  const auto text = value_of(meminfo, "MemTotal", ':');
  const auto kibibytes = parse_unsigned(text.substr(0, text.find(' ')));
  if (!kibibytes || *kibibytes > (std::uint64_t{1} << 50)) {
    return std::nullopt;
  }
  return Bytes{*kibibytes * 1024};
}

// SMBIOS chassis types: portable, laptop, notebook, sub-notebook, convertible,
// detachable.
bool is_laptop_chassis(const std::string& type) {
  const std::set<std::string> laptops{"8", "9", "10", "14", "31", "32"};
  return laptops.contains(type);
}

} // namespace

HostFacts read_host_facts(const SysfsTree& tree) {
  const auto text = [&](const std::string& path) {
    return tree.read_text(path).value_or("");
  };
  HostFacts facts;
  facts.name = HostName::parse(text("proc/sys/kernel/hostname"));
  if (!facts.name) {
    facts.name = HostName::parse(text("etc/hostname"));
  }
  const std::string dmi = "sys/class/dmi/id/";
  facts.product =
      trimmed(text(dmi + "sys_vendor") + " " + text(dmi + "product_name"));
  facts.is_laptop = is_laptop_chassis(text(dmi + "chassis_type"));
  facts.system = value_of(text("etc/os-release"), "PRETTY_NAME", '=');
  facts.kernel = text("proc/sys/kernel/osrelease");
  read_cpu(text("proc/cpuinfo"), facts);
  facts.memory = parse_memory(text("proc/meminfo"));
  const auto module = tree.read_text("sys/module/nvidia/version");
  if (module.ok()) {
    facts.nvidia_module_version = module.value();
  }
  return facts;
}

} // namespace egpurun::topology
