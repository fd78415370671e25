#include "launcher/start/mpirun_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "jobs/contract/rank_environment.h"
#include "launcher/options/option_table.h"
#include "launcher/start/program_output.h"
#include "launcher/start/program_search.h"
#include "topology/error.h"
#include "topology/printable_text.h"

namespace egpurun::launcher {

namespace {

constexpr const char* kAsked = "find Open MPI's mpirun";

bool is_ourselves(const std::string& path) {
  std::error_code error;
  return std::filesystem::equivalent(path, "/proc/self/exe", error);
}

std::string find_in_path() {
  std::istringstream entries(read_environment("PATH"));
  std::string entry;
  while (std::getline(entries, entry, ':')) {
    const auto found = find_program("mpirun", entry, "");
    if (found.result == SearchResult::kFound && !is_ourselves(found.path)) {
      return std::filesystem::absolute(found.path).string();
    }
  }
  throw Error(
      ErrorKind::kEnvironment,
      kAsked,
      "no mpirun in PATH=" + read_environment("PATH"),
      "install Open MPI (Debian, Ubuntu: apt install openmpi-bin), or set "
      "EGPU_MPIRUN to its mpirun");
}

std::string check_chosen(const std::string& chosen) {
  const std::string path = std::filesystem::absolute(chosen).string();
  if (access(path.c_str(), X_OK) != 0 || is_ourselves(path)) {
    throw Error(
        ErrorKind::kEnvironment,
        kAsked,
        fmt::format("EGPU_MPIRUN={} is not a program to start", chosen),
        "set EGPU_MPIRUN to the path of Open MPI's mpirun, or unset it");
  }
  return path;
}

std::string read_version_line(const std::string& path) {
  constexpr Seconds kLimit{10};
  const auto output =
      read_program_output({path, "--version"}, kLimit, StandardError::kJoined);
  if (!output) {
    throw Error(
        ErrorKind::kEnvironment,
        kAsked,
        fmt::format("`{} --version` did not answer", path),
        "set EGPU_MPIRUN to the path of Open MPI's mpirun");
  }
  return output->text.substr(0, output->text.find('\n'));
}

} // namespace

unsigned parse_mpirun_version(const std::string& version_line) {
  constexpr const char* kMark = "(Open MPI) ";
  const auto mark = version_line.find(kMark);
  if (mark == std::string::npos) {
    return 0;
  }
  const char* number = version_line.c_str() + mark + std::string(kMark).size();
  return std::atoi(number) >= 5 ? kVersion5 : kVersion4;
}

MpirunProgram find_mpirun() {
  MpirunProgram mpirun;
  const std::string chosen = read_environment(jobs::kMpirunVariable);
  mpirun.path = chosen.empty() ? find_in_path() : check_chosen(chosen);
  mpirun.name = chosen.empty() ? "mpirun" : chosen;
  mpirun.version_line = read_version_line(mpirun.path);
  mpirun.version = parse_mpirun_version(mpirun.version_line);
  if (mpirun.version == 0) {
    throw Error(
        ErrorKind::kEnvironment,
        kAsked,
        fmt::format(
            "{} says '{}', so it is another vendor's",
            mpirun.path,
            topology::printable_text(mpirun.version_line.substr(0, 200))),
        "install Open MPI and put it first in PATH, or set EGPU_MPIRUN to its "
        "mpirun (Debian: /usr/bin/mpirun.openmpi)");
  }
  return mpirun;
}

} // namespace egpurun::launcher
