#include "launcher/options/help_text.h"

#include <fmt/format.h>

#include "launcher/options/option_table.h"

namespace egpurun::launcher {

namespace {

struct GroupTitle {
  OptionGroup group;
  const char* title;
};

constexpr GroupTitle kTitles[] = {
    {OptionGroup::kOwn, "egpurun's own options"},
    {OptionGroup::kGeneral, "General"},
    {OptionGroup::kRanks, "Number of ranks"},
    {OptionGroup::kHosts, "Hosts"},
    {OptionGroup::kMapping, "Mapping, ranking and binding"},
    {OptionGroup::kEnvironment, "Environment, parameters and files"},
    {OptionGroup::kOutput, "Input and output"},
    {OptionGroup::kControl, "Job control"},
    {OptionGroup::kDevelopers, "For developers"},
};

constexpr const char* kUsage =
    "egpurun starts one PyTorch or MPI job on PCs with eGPUs, by mpirun.\n"
    "\n"
    "  egpurun [OPTIONS] PROGRAM [ARGUMENTS] [: [OPTIONS] PROGRAM ...]\n"
    "      any command line of mpirun\n"
    "  egpurun [OPTIONS] JOB.toml [OPTIONS] [-- EGPU_TRAIN_OPTIONS]\n"
    "      egpu-train on the hosts of a job file\n";

std::string format_names(const OptionRow& row) {
  std::string names;
  for (const auto name : option_names(row)) {
    names += (names.empty() ? "" : ", ") + dashed(name);
  }
  if (row.value_names[0] != '\0') {
    const std::string value = row.value_names;
    names += " " + (row.values == kOptionalValue ? "[" + value + "]" : value);
  }
  return names;
}

const char* version_mark(const OptionRow& row) {
  if (row.versions == kBothVersions) {
    return "";
  }
  return row.versions == kVersion4 ? " [Open MPI 4]" : " [Open MPI 5]";
}

std::string format_row(const OptionRow& row) {
  constexpr std::size_t kColumn = 26;
  const std::string names = format_names(row);
  const std::string gap = names.size() < kColumn
      ? std::string(kColumn - names.size(), ' ')
      : "\n" + std::string(kColumn + 2, ' ');
  return fmt::format("  {}{}{}{}\n", names, gap, row.help, version_mark(row));
}

} // namespace

std::string format_help() {
  std::string text = kUsage;
  for (const auto& [group, title] : kTitles) {
    text += fmt::format("\n{}:\n", title);
    for (const auto& row : option_table()) {
      if (row.group == group) {
        text += format_row(row);
      }
    }
  }
  text +=
      "\nAll of mpirun's options take one or two dashes and may be written\n"
      "--option=value. Details: mpirun(1).\n";
  return text;
}

} // namespace egpurun::launcher
