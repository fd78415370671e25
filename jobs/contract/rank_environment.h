#pragma once

#include <span>
#include <string>
#include <string_view>

namespace egpurun::jobs {

// Names of the variables that egpu-rank sets for each rank.
inline constexpr const char* kRankVariable = "RANK";
inline constexpr const char* kWorldSizeVariable = "WORLD_SIZE";
inline constexpr const char* kLocalRankVariable = "LOCAL_RANK";
inline constexpr const char* kLocalWorldSizeVariable = "LOCAL_WORLD_SIZE";
inline constexpr const char* kMasterAddressVariable = "MASTER_ADDR";
inline constexpr const char* kMasterPortVariable = "MASTER_PORT";
inline constexpr const char* kHostVariable = "EGPU_HOST";
inline constexpr const char* kHostIndexVariable = "EGPU_HOST_INDEX";
inline constexpr const char* kGpuUuidVariable = "EGPU_GPU_UUID";
inline constexpr const char* kVisibleGpusVariable = "CUDA_VISIBLE_DEVICES";
inline constexpr const char* kGpuOrderVariable = "CUDA_DEVICE_ORDER";

// Set by egpurun: "1" if its standard output is a terminal, else "0".
inline constexpr const char* kTerminalVariable = "EGPU_TERMINAL";

// Names of the variables that the user or a virtual office sets.
inline constexpr const char* kMpirunVariable = "EGPU_MPIRUN";
inline constexpr const char* kMachineVariable = "EGPU_MACHINE";
inline constexpr const char* kHostLinkVariable = "EGPU_HOST_LINK";

// Where a variable's value is right.
enum class VariableScope {
  kRank, // in one rank only
  kHost, // on one PC only
  kJob, // everywhere in the job
  kBuild, // in the tests of a build tree
};

// One row of the contract between launcher, runtime and user.
struct EnvironmentVariable {
  const char* name;
  VariableScope scope;
  const char* set_by;
  const char* read_by;
  const char* meaning;
};

std::span<const EnvironmentVariable> environment_variables();

// True for an EGPU_* name that `egpurun JOB.toml` sends to every PC: all but
// those whose value is right on one PC, in one rank or in a build only.
bool travels_with_the_job(std::string_view name);

// The Markdown table of jobs/contract/README.md.
std::string format_environment_table();

} // namespace egpurun::jobs
