#include "jobs/contract/rank_environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace egpurun::jobs {

namespace {

using enum VariableScope;

constexpr const char* kRankProgram = "egpu-rank";

constexpr EnvironmentVariable kVariables[] = {
    {kRankVariable, kRank, kRankProgram, "torch", "rank in the world, 0-based"},
    {kWorldSizeVariable, kJob, kRankProgram, "torch", "number of ranks"},
    {kLocalRankVariable,
     kRank,
     kRankProgram,
     "torch, egpu-train",
     "rank among the ranks of this PC, 0-based"},
    {kLocalWorldSizeVariable,
     kHost,
     kRankProgram,
     "torch, egpu-train",
     "number of ranks on this PC"},
    {kMasterAddressVariable,
     kJob,
     kRankProgram,
     "torch",
     "numeric address of rank 0's PC; absent when egpurun cannot know it"},
    {kMasterPortVariable,
     kJob,
     kRankProgram,
     "torch",
     "TCP port that was free where egpurun ran"},
    {kHostVariable,
     kHost,
     kRankProgram,
     "egpu-train",
     "this PC's name in the plan; equal on ranks that share a PC"},
    {kHostIndexVariable,
     kHost,
     kRankProgram,
     "egpu-train",
     "this PC's place in the plan, 0-based; absent without a plan"},
    {kGpuUuidVariable,
     kRank,
     kRankProgram,
     "egpu-train",
     "the GPU of this rank; absent when none is assigned"},
    {kVisibleGpusVariable,
     kRank,
     kRankProgram,
     "CUDA",
     "same GPU, so that the rank's only CUDA device is number 0"},
    {kGpuOrderVariable,
     kRank,
     kRankProgram,
     "CUDA",
     "PCI_BUS_ID: CUDA counts GPUs as nvidia-smi does"},
    {kMpirunVariable,
     kHost,
     "user",
     "egpurun",
     "path of the mpirun to use instead of the first in PATH"},
    {kMachineVariable,
     kHost,
     "user, virtual office",
     "egpu-topo, egpurun",
     "folder of a recorded machine to take for this PC"},
    {kHostLinkVariable,
     kHost,
     "virtual office",
     "egpu-train",
     "JSON: rate and sharing of the paced host link of this PC"},
    {kTerminalVariable,
     kJob,
     "egpurun",
     "egpu-train",
     "1 if egpurun's standard output is a terminal, else 0"},
    {"EGPU_BIN", kBuild, "ctest", "tests", "folder of the built programs"},
    {"EGPU_SOURCE", kBuild, "ctest", "tests", "root of the source tree"},
};

const char* scope_name(VariableScope scope) {
  switch (scope) {
    case kRank:
      return "rank";
    case kHost:
      return "PC";
    case kJob:
      return "job";
    case kBuild:
      return "tests";
  }
  return "";
}

} // namespace

std::span<const EnvironmentVariable> environment_variables() {
  return kVariables;
}

bool travels_with_the_job(std::string_view name) {
  if (!name.starts_with("EGPU_")) {
    return false;
  }
  const auto row =
      std::ranges::find(kVariables, name, &EnvironmentVariable::name);
  return row == std::end(kVariables) || row->scope == kJob;
}

std::string format_environment_table() {
  std::string table =
      "| variable | right for one | set by | read by | meaning |\n"
      "|---|---|---|---|---|\n";
  for (const auto& row : kVariables) {
    table += fmt::format(
        "| `{}` | {} | {} | {} | {} |\n",
        row.name,
        scope_name(row.scope),
        row.set_by,
        row.read_by,
        row.meaning);
  }
  return table;
}

} // namespace egpurun::jobs
