#include "launcher/start/rank_start.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>

#include "launcher/hosts/host_address.h"
#include "launcher/start/program_search.h"
#include "topology/error.h"

namespace egpurun::launcher {

namespace {

// mpirun 4.1.4's exit status for a program that is not in PATH, one that is
// not accessible, and one that the kernel cannot execute.
constexpr int kNotInPathStatus = 134;
constexpr int kNotAccessibleStatus = 132;
constexpr int kNotExecutableStatus = 131;

int read_number(const char* name, int otherwise) {
  const std::string text = read_environment(name);
  int number = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::optional<int> read_daemon_number() {
  for (const char* name :
       {"OMPI_MCA_orte_local_daemon_uri",
        "PMIX_SERVER_URI41",
        "PMIX_SERVER_URI4"}) {
    if (const auto number = parse_daemon_number(read_environment(name))) {
      return number;
    }
  }
  return std::nullopt;
}

// Open MPI describes the started program here; it must not say egpu-rank. Its
// 4.1 writes the name without folder, its 5.0 as given (ours is a full path).
void repair_program_variables(const Words& program) {
  const std::string described = read_environment("OMPI_COMMAND");
  const bool is_version5 = described.find('/') != std::string::npos;
  const auto slash = is_version5 ? std::string::npos : program[0].rfind('/');
  const std::string name =
      slash == std::string::npos ? program[0] : program[0].substr(slash + 1);
  if (!described.empty()) {
    setenv("OMPI_COMMAND", name.c_str(), 1);
  }
  std::string arguments;
  for (std::size_t i = 1; i < program.size(); ++i) {
    arguments += (i > 1 ? " " : "") + program[i];
  }
  // Without arguments 5.0 sets it empty, 4.1 does not set it.
  if (program.size() < 2 && !is_version5) {
    unsetenv("OMPI_ARGV");
  } else if (std::getenv("OMPI_ARGV") != nullptr) {
    setenv("OMPI_ARGV", arguments.c_str(), 1);
  }
}

} // namespace

RankStart parse_rank_start(const Words& words) {
  RankStart start;
  std::size_t next = 0;
  const auto value = [&](const std::string& option) {
    if (next + 1 >= words.size()) {
      throw Error(
          ErrorKind::kBadInput,
          "start a rank",
          option + " has no value",
          "write egpu-rank [--plan JSON] [--path FOLDERS] -- PROGRAM ...");
    }
    next += 2;
    return words[next - 1];
  };
  while (next < words.size() && words[next].starts_with('-')) {
    if (words[next] == "--") {
      ++next;
      break;
    }
    if (words[next] == "--plan") {
      start.plan = jobs::parse_launch_plan(value("--plan"));
    } else if (words[next] == "--path") {
      start.search_path = value("--path");
    } else {
      throw Error(
          ErrorKind::kBadInput,
          "start a rank",
          "unknown option '" + words[next] + "'",
          "egpu-rank knows --plan and --path; put -- before the program");
    }
  }
  start.program.assign(
      words.begin() + static_cast<std::ptrdiff_t>(next), words.end());
  if (start.program.empty()) {
    throw Error(
        ErrorKind::kBadInput,
        "start a rank",
        "no program to start",
        "write egpu-rank [--plan JSON] [--path FOLDERS] -- PROGRAM ...");
  }
  return start;
}

std::optional<int> parse_daemon_number(const std::string& contact) {
  const std::string name = contact.substr(0, contact.find(';'));
  const auto dot = name.rfind('.');
  if (dot == std::string::npos || contact.size() == name.size()) {
    return std::nullopt;
  }
  int number = 0;
  const char* end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data() + dot + 1, end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) {
    return std::nullopt;
  }
  return number;
}

jobs::RankIdentity read_rank_identity() {
  return {
      .rank = read_number("OMPI_COMM_WORLD_RANK", 0),
      .world_size = read_number("OMPI_COMM_WORLD_SIZE", 1),
      .local_rank = read_number("OMPI_COMM_WORLD_LOCAL_RANK", 0),
      .local_world_size = read_number("OMPI_COMM_WORLD_LOCAL_SIZE", 1),
      .host_name = read_host_name(),
      .daemon = read_daemon_number()};
}

void apply_rank_environment(
    const RankStart& start,
    const jobs::RankIdentity& identity) {
  for (const auto& [name, value] :
       jobs::plan_rank_environment(start.plan, identity)) {
    setenv(name.c_str(), value.c_str(), 0);
  }
  repair_program_variables(start.program);
}

FailedStart execute_program(const RankStart& start) {
  const std::string& program = start.program[0];
  std::string search_path = read_environment("PATH");
  if (!start.search_path.empty()) {
    search_path = start.search_path + ":" + search_path;
  }
  const auto found = find_program(program, search_path, "");
  if (found.result == SearchResult::kNotInPath) {
    return {
        kNotInPathStatus,
        fmt::format("no program '{}' in {}", program, search_path)};
  }
  if (found.result == SearchResult::kNotAccessible) {
    return {
        kNotAccessibleStatus,
        fmt::format("'{}': {}", program, topology::errno_text(errno))};
  }
  std::vector<char*> words;
  for (const auto& word : start.program) {
    words.push_back(const_cast<char*>(word.c_str()));
  }
  words.push_back(nullptr);
  execv(found.path.c_str(), words.data());
  return {
      kNotExecutableStatus,
      fmt::format("'{}': {}", found.path, topology::errno_text(errno))};
}

} // namespace egpurun::launcher
