#pragma once

#include <string>

namespace egpurun::runtime {

// Where this process stands in the job.
struct RankIdentity {
  int rank = 0;
  int world_size = 1;
  int local_rank = 0; // among the ranks of this PC
  int local_world_size = 1;
  std::string host; // the launcher's name for this PC
  bool under_mpirun = false; // false: a single rank started by hand
};

// From the variables that egpu-rank and mpirun set; rank and world size as
// Open MPI counts them. Throws Error (kEnvironment) for values that are no
// numbers.
RankIdentity read_rank_identity();

} // namespace egpurun::runtime
