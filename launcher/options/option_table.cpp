#include "launcher/options/option_table.h"

#include <algorithm>
#include <iterator>

#include "jobs/spec/nearest_name.h"

namespace egpurun::launcher {

namespace {

constexpr const char* kHydra = "MPICH and Intel MPI";
constexpr const char* kSlurm = "srun";

constexpr ForeignOption kForeignOptions[] = {
    {"ppn", kHydra, "-N RANKS_PER_HOST"},
    {"perhost", kHydra, "-N RANKS_PER_HOST"},
    {"rr", kHydra, "--map-by node"},
    {"grr", kHydra, "-N RANKS_PER_HOST"},
    {"f", kHydra, "--hostfile FILE"},
    {"machine", kHydra, "--hostfile FILE"},
    {"hosts", kHydra, "--host HOST[:SLOTS],..."},
    {"genv", kHydra, "-x NAME=VALUE"},
    {"env", kHydra, "-x NAME=VALUE"},
    {"genvlist", kHydra, "-x NAME for each variable"},
    {"envlist", kHydra, "-x NAME for each variable"},
    {"genvall", kHydra, "-x NAME for each variable"},
    {"envall", kHydra, "-x NAME for each variable"},
    {"genvnone", kHydra, "nothing: Open MPI sends no variable without -x"},
    {"envnone", kHydra, "nothing: Open MPI sends no variable without -x"},
    {"l", kHydra, "--tag-output"},
    {"prepend-rank", kHydra, "--tag-output"},
    {"outfile-pattern", kHydra, "--output-filename FOLDER"},
    {"configfile", kHydra, "--app FILE"},
    {"iface", kHydra, "--mca btl_tcp_if_include INTERFACE"},
    {"launcher", kHydra, "--mca plm_rsh_agent PROGRAM"},
    {"launcher-exec", kHydra, "--mca plm_rsh_agent PROGRAM"},
    {"bootstrap", kHydra, "--mca plm_rsh_agent PROGRAM"},
    {"localonly", kHydra, "--host localhost:SLOTS"},
    {"ntasks", kSlurm, "-np RANKS"},
    {"nodelist", kSlurm, "--host HOST[:SLOTS],..."},
    {"ntasks-per-node", kSlurm, "-N RANKS_PER_HOST"},
    {"chdir", kSlurm, "--wdir FOLDER"},
    {"nproc-per-node", "torchrun", "-N RANKS_PER_HOST"},
    {"nproc_per_node", "torchrun", "-N RANKS_PER_HOST"},
    {"nnodes", "torchrun", "--host HOST[:SLOTS],..."},
};

} // namespace

std::vector<std::string_view> option_names(const OptionRow& row) {
  std::vector<std::string_view> names;
  std::string_view rest = row.names;
  while (!rest.empty()) {
    const auto blank = rest.find(' ');
    names.push_back(rest.substr(0, blank));
    rest = blank == rest.npos ? "" : rest.substr(blank + 1);
  }
  return names;
}

const OptionRow* find_option(std::string_view name, unsigned version) {
  const OptionRow* other = nullptr;
  for (const auto& row : option_table()) {
    if (std::ranges::count(option_names(row), name) == 0) {
      continue;
    }
    if ((row.versions & version) != 0) {
      return &row;
    }
    other = &row;
  }
  return other;
}

std::string dashed(std::string_view name) {
  return (name.size() == 1 ? "-" : "--") + std::string(name);
}

const ForeignOption* find_foreign_option(std::string_view name) {
  const auto* row =
      std::ranges::find(kForeignOptions, name, &ForeignOption::name);
  return row == std::end(kForeignOptions) ? nullptr : row;
}

std::string nearest_option(std::string_view name) {
  std::vector<std::string_view> candidates;
  for (const auto& row : option_table()) {
    for (const auto candidate : option_names(row)) {
      // A single letter is near to everything.
      if (candidate.size() > 1) {
        candidates.push_back(candidate);
      }
    }
  }
  const auto nearest = jobs::nearest_name(name, candidates);
  return nearest ? dashed(*nearest) : "";
}

} // namespace egpurun::launcher
