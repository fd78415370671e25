#include <cstdio>

#include "launcher/start/rank_start.h"
#include "topology/error.h"

// Starts one rank: sets the environment that the plan gives it, then becomes
// the user's program.
int main(int argc, char** argv) {
  namespace launcher = egpurun::launcher;
  const auto identity = launcher::read_rank_identity();
  const auto fail = [](const egpurun::Error& error, int status) {
    const auto text = egpurun::topology::format_error("egpu-rank", error);
    std::fputs(text.c_str(), stderr);
    return status;
  };
  try {
    const auto start = launcher::parse_rank_start({argv + 1, argv + argc});
    launcher::apply_rank_environment(start, identity);
    const auto failed = launcher::execute_program(start);
    const egpurun::Error error(
        egpurun::ErrorKind::kEnvironment,
        "start '" + start.program[0] + "'",
        failed.found,
        "put the program at the same path on every PC",
        {.host = identity.host_name, .rank = identity.rank});
    return fail(error, failed.exit_status);
  } catch (const egpurun::Error& error) {
    return fail(error, error.exit_status());
  }
}
