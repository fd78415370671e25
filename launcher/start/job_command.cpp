#include "launcher/start/job_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>

#include "jobs/contract/rank_environment.h"
#include "launcher/hosts/host_address.h"
#include "launcher/start/program_search.h"
#include "launcher/start/ssh_reach.h"
#include "topology/error.h"

extern char** environ;

namespace egpurun::launcher {

namespace {

GivenOption make_option(const Words& words, unsigned version) {
  const std::string name = words[0].substr(words[0].starts_with("--") ? 2 : 1);
  return {
      .row = find_option(name, version),
      .name = name,
      .values = {words.begin() + 1, words.end()},
      .words = words};
}

void fail_extra_word(const std::string& word) {
  throw Error(
      ErrorKind::kBadInput,
      "start a job file",
      fmt::format("'{}' after the job file is no option", word),
      "write egpurun [OPTIONS] JOB.toml [OPTIONS] [-- EGPU_TRAIN_OPTIONS]");
}

bool is_set(const CommandLine& line, const std::string& parameter) {
  return !parameter_value(line, parameter).empty() ||
      !read_environment(("OMPI_MCA_" + parameter).c_str()).empty();
}

// Variables of ours that the user set, which a remote PC would not see.
Words list_travelling_variables() {
  Words names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('='));
    if (jobs::travels_with_the_job(name)) {
      names.push_back(name);
    }
  }
  std::ranges::sort(names);
  return names;
}

void add_ranks(
    Words& words,
    const CommandLine& line,
    const jobs::HostsSection& wanted,
    const std::vector<jobs::PlacementHost>& hosts) {
  const bool has_file =
      find_given(line.contexts[0], OptionRole::kHostfile) != nullptr;
  std::int64_t ranks = wanted.ranks;
  if (ranks == 0 && !has_file) {
    for (const auto& host : hosts) {
      ranks += jobs::default_ranks(host);
    }
  }
  if (ranks > 0) {
    words.insert(words.end(), {"-np", std::to_string(ranks)});
  }
  const bool names_hosts =
      has_file || find_given(line.contexts[0], OptionRole::kHosts) != nullptr;
  if (!names_hosts && hosts.size() == 1) {
    // mpirun would allow only as many ranks as there are cores.
    words.insert(words.end(), {"-H", fmt::format("localhost:{}", ranks)});
  }
}

} // namespace

std::optional<JobCommand> find_job_command(
    const CommandLine& line,
    unsigned version) {
  const auto& first = line.contexts[0];
  if (first.program.empty() || !first.program[0].ends_with(".toml") ||
      access(first.program[0].c_str(), X_OK) == 0) {
    return std::nullopt;
  }
  if (line.contexts.size() > 1) {
    fail_extra_word(":");
  }
  const Words rest(first.program.begin() + 1, first.program.end());
  const auto second = parse_command_line(rest, version);
  const auto& after = second.contexts[0];
  if (second.contexts.size() > 1) {
    fail_extra_word(":");
  }
  if (!after.has_end_mark && !after.program.empty()) {
    fail_extra_word(after.program[0]);
  }
  JobCommand command{first.program[0], after.program, line};
  auto& context = command.line.contexts[0];
  context.program.clear();
  context.has_end_mark = false;
  context.options.insert(
      context.options.end(), after.options.begin(), after.options.end());
  command.line.own.insert(
      command.line.own.end(), second.own.begin(), second.own.end());
  return command;
}

void add_job_hosts(CommandLine& line, const jobs::HostsSection& hosts) {
  auto& context = line.contexts[0];
  if (find_given(context, OptionRole::kHosts) != nullptr ||
      find_given(context, OptionRole::kHostfile) != nullptr) {
    return;
  }
  Words words;
  if (!hosts.list.empty()) {
    words = {"-H", fmt::format("{}", fmt::join(hosts.list, ","))};
  } else if (!hosts.hostfile.empty()) {
    words = {"--hostfile", hosts.hostfile};
  } else {
    return;
  }
  context.options.insert(
      context.options.begin(), make_option(words, kBothVersions));
}

void add_job_options(
    JobCommand& command,
    const jobs::HostsSection& wanted,
    const std::vector<jobs::PlacementHost>& hosts,
    unsigned version) {
  auto& context = command.line.contexts[0];
  Words words;
  if (find_given(context, OptionRole::kRankCount) == nullptr) {
    add_ranks(words, command.line, wanted, hosts);
  }
  const auto set = [&](const std::string& name, const std::string& value) {
    if (!is_set(command.line, name)) {
      words.insert(words.end(), {"--mca", name, value});
    }
  };
  if (!wanted.network.empty()) {
    set("btl_tcp_if_include", wanted.network);
    set(version == kVersion5 ? "prte_if_include" : "oob_tcp_if_include",
        wanted.network);
  }
  // Waiting ranks give their core away: busy polling starves small PCs.
  set("mpi_yield_when_idle", "1");
  if (find_given(context, OptionRole::kBinding) == nullptr &&
      !is_set(command.line, "hwloc_base_binding_policy")) {
    words.insert(words.end(), {"--bind-to", "none"});
  }
  for (const auto& name : list_travelling_variables()) {
    words.insert(words.end(), {"-x", name});
  }
  auto added = parse_command_line(words, version).contexts[0].options;
  context.options.insert(context.options.begin(), added.begin(), added.end());
}

void check_hosts(
    const std::vector<jobs::PlacementHost>& hosts,
    const CommandLine& line) {
  if (is_set(line, "plm_rsh_agent")) {
    return;
  }
  Words unknown;
  std::vector<SshTarget> targets;
  for (const auto& host : hosts) {
    if (host.is_local) {
      continue;
    }
    targets.push_back(read_ssh_target(host.name));
    const SshTarget& target = targets.back();
    if (!target.has_proxy && resolve_address(target.host_name).empty()) {
      unknown.push_back(host.name);
    }
  }
  if (!unknown.empty()) {
    throw Error(
        ErrorKind::kEnvironment,
        "reach the job's hosts",
        fmt::format(
            "no name service knows {}",
            fmt::format("{}", fmt::join(unknown, ", "))),
        "correct [hosts] in the job file, or add the names to /etc/hosts",
        {.host = unknown[0]});
  }
  constexpr Seconds kLimit{5};
  const auto complaints = find_unreachable(targets, kLimit);
  if (!complaints.empty()) {
    throw Error(
        ErrorKind::kEnvironment,
        "reach the job's hosts by ssh",
        fmt::format("{}", fmt::join(complaints, "; ")),
        "check that the PC is on, its network cable, and its ssh server; "
        "`ssh HOST true` must work");
  }
}

} // namespace egpurun::launcher
