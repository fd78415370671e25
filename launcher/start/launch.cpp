#include "launcher/start/launch.h"

#include <unistd.h>

#include <cerrno>

#include "jobs/contract/rank_environment.h"
#include "jobs/plan/placement.h"
#include "jobs/spec/job_file.h"
#include "launcher/hosts/host_gpus.h"
#include "launcher/hosts/plan_hosts.h"
#include "launcher/start/insertion.h"
#include "launcher/start/job_command.h"
#include "launcher/start/program_search.h"
#include "launcher/start/remote_gpus.h"
#include "launcher/start/shell_words.h"
#include "topology/error.h"

namespace egpurun::launcher {

namespace {

using PlacementHosts = std::vector<jobs::PlacementHost>;

// The same folder holds all our programs.
std::string own_program(const char* name) {
  const std::string path = read_own_folder() + "/" + name;
  if (access(path.c_str(), X_OK) != 0) {
    throw Error(
        ErrorKind::kEnvironment,
        std::string("find ") + name,
        "there is none beside egpurun: " + topology::errno_text(errno),
        "build or install all of egpurun's programs in one folder",
        {.path = path});
  }
  return path;
}

void finish(
    Launch& launch,
    CommandLine line,
    const PlacementHosts& hosts,
    const MpirunProgram& mpirun) {
  launch.plan = jobs::place_ranks(hosts);
  std::string network = parameter_value(line, "btl_tcp_if_include");
  if (network.empty()) {
    network = read_environment("OMPI_MCA_btl_tcp_if_include");
  }
  choose_master(launch.plan, network);
  launch.plan.environment[jobs::kTerminalVariable] =
      std::to_string(isatty(STDOUT_FILENO));
  insert_rank_starter(
      line,
      {own_program("egpu-rank"),
       "--plan",
       jobs::format_launch_plan(launch.plan)},
      launch.notes);
  launch.command = {mpirun.name};
  const Words words = format_words(line);
  launch.command.insert(launch.command.end(), words.begin(), words.end());
}

bool wants_remote_gpus(
    const jobs::JobSpec& spec,
    const CommandLine& line,
    const PlacementHosts& hosts) {
  const bool wants_gpu = spec.train.device == "cuda" ||
      (spec.train.device == "auto" && has_usable_gpu(hosts));
  return wants_gpu || has_option(line, OptionRole::kDiscover);
}

Launch prepare_job(JobCommand command, const MpirunProgram& mpirun) {
  const auto spec = jobs::parse_job_file(command.job_file);
  add_job_hosts(command.line, spec.hosts);
  auto hosts = list_placement_hosts(find_listed_hosts(command.line));
  check_hosts(hosts, command.line);
  discover_local_gpus(hosts);
  add_job_options(command, spec.hosts, hosts, mpirun.version);
  if (wants_remote_gpus(spec, command.line, hosts)) {
    discover_remote_gpus(hosts, command.line, mpirun, own_program("egpu-topo"));
  }
  auto& program = command.line.contexts[0].program;
  program = {own_program("egpu-train"), command.job_file};
  program.insert(
      program.end(),
      command.train_options.begin(),
      command.train_options.end());
  Launch launch;
  finish(launch, std::move(command.line), hosts, mpirun);
  return launch;
}

} // namespace

Launch prepare_launch(const CommandLine& line, const MpirunProgram& mpirun) {
  if (auto job = find_job_command(line, mpirun.version)) {
    return prepare_job(std::move(*job), mpirun);
  }
  auto hosts = list_placement_hosts(find_listed_hosts(line));
  discover_local_gpus(hosts);
  if (has_option(line, OptionRole::kDiscover)) {
    discover_remote_gpus(hosts, line, mpirun, own_program("egpu-topo"));
  }
  Launch launch;
  finish(launch, line, hosts, mpirun);
  return launch;
}

std::string format_dry_run(const Launch& launch) {
  return jobs::format_plan_text(launch.plan) + "reasons:\n" +
      format_reasons(launch) + "command:\n  " +
      quote_for_shell(launch.command) + "\n";
}

std::string format_reasons(const Launch& launch) {
  std::string text;
  for (const auto* list : {&launch.plan.reasons, &launch.notes}) {
    for (const auto& reason : *list) {
      text += "  " + reason + "\n";
    }
  }
  return text;
}

void execute(const MpirunProgram& mpirun, const Words& command) {
  std::vector<char*> words;
  for (const auto& word : command) {
    words.push_back(const_cast<char*>(word.c_str()));
  }
  words.push_back(nullptr);
  execv(mpirun.path.c_str(), words.data());
  throw Error(
      ErrorKind::kEnvironment,
      "start mpirun",
      topology::errno_text(errno),
      errno == E2BIG ? "shorten the command line or the environment"
                     : "set EGPU_MPIRUN to Open MPI's mpirun",
      {.path = mpirun.path});
}

} // namespace egpurun::launcher
