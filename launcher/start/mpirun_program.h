#pragma once

#include <string>

namespace egpurun::launcher {

// The mpirun that egpurun stands on.
struct MpirunProgram {
  std::string path; // absolute
  // What it is called by: an absolute name would mean --prefix to mpirun.
  std::string name;
  std::string version_line; // "mpirun (Open MPI) 4.1.4"
  unsigned version = 0; // kVersion4 or kVersion5
};

// EGPU_MPIRUN, else the first mpirun in PATH that is not the running program.
// Asks it for its version. Throws Error (kEnvironment) if there is none or if
// it is another vendor's.
MpirunProgram find_mpirun();

// The program's version from the first line of `mpirun --version`; 0 if it is
// not Open MPI's.
unsigned parse_mpirun_version(const std::string& version_line);

} // namespace egpurun::launcher
