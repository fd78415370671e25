#include "jobs/spec/key_advice.h"

#include <fmt/format.h>

#include <vector>

#include "jobs/spec/job_keys.h"
#include "jobs/spec/nearest_name.h"

namespace egpurun::jobs {

namespace {

std::string joined(const std::vector<std::string_view>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

// "[job], [model], [data]" for "name"; "" if no section has such a key.
std::string sections_of_key(std::string_view name) {
  std::string sections;
  for (const JobKey& key : job_keys()) {
    if (key.name == name) {
      sections +=
          fmt::format("{}[{}]", sections.empty() ? "" : ", ", key.section);
    }
  }
  return sections;
}

} // namespace

std::string unknown_key_advice(
    std::string_view section,
    std::string_view name) {
  const auto names = key_names(section);
  if (const auto nearest = nearest_name(name, names)) {
    return fmt::format(
        "write '{}'; `egpu-train --print-defaults` lists all keys", *nearest);
  }
  if (const std::string others = sections_of_key(name); !others.empty()) {
    return "it belongs in " + others;
  }
  return fmt::format("keys of [{}]: {}", section, joined(names));
}

std::string unknown_section_advice(std::string_view name) {
  const auto nearest = nearest_name(name, section_names());
  return nearest ? fmt::format("write [{}]", *nearest)
                 : "sections: " + joined(section_names());
}

std::string stray_key_advice(std::string_view name) {
  const std::string sections = sections_of_key(name);
  return sections.empty() ? "sections: " + joined(section_names())
                          : "it belongs in " + sections;
}

} // namespace egpurun::jobs
