#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <tuple>

#include "launcher/options/command_line.h"
#include "launcher/options/help_text.h"
#include "launcher/start/launch.h"
#include "launcher/start/mpirun_program.h"
#include "topology/error.h"

namespace {

using namespace egpurun::launcher;

void print(std::FILE* stream, const std::string& text) {
  std::fputs(text.c_str(), stream);
}

int finish_printing() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    throw egpurun::Error(
        egpurun::ErrorKind::kEnvironment,
        "print to standard output",
        "it takes no more",
        "free space there, or print to a terminal");
  }
  return 0;
}

// mpirun does not even tell its version without one.
void require_working_folder() {
  std::error_code failure;
  std::ignore = std::filesystem::current_path(failure);
  if (failure) {
    throw egpurun::Error(
        egpurun::ErrorKind::kEnvironment,
        "start a job from the current folder",
        failure.message(),
        "it was removed or may not be read: change to another folder");
  }
}

// Under mpirun's names we must look like mpirun to scripts that ask.
bool is_named_mpirun(const std::string& called_as) {
  const std::string name = called_as.substr(called_as.rfind('/') + 1);
  return name == "mpirun" || name == "mpiexec" || name == "orterun";
}

// A command line that mpirun would refuse ends as mpirun ends it.
constexpr int kRefusedStatus = 1;
struct Refused {
  egpurun::Error error;
};

CommandLine parse(const Words& words, unsigned version) {
  try {
    return parse_command_line(words, version);
  } catch (const egpurun::Error& error) {
    throw Refused{error};
  }
}

int run(const Words& words, bool as_mpirun) {
  // Help must be there on a PC without Open MPI too.
  if (!as_mpirun && (words == Words{"--help"} || words == Words{"-h"})) {
    print(stdout, format_help());
    return finish_printing();
  }
  const bool asks_version = words == Words{"--version"} || words == Words{"-V"};
  if (asks_version && !as_mpirun) {
    print(stdout, "egpurun " EGPU_VERSION "\n");
    std::fflush(stdout);
  }
  require_working_folder();
  const auto mpirun = find_mpirun();
  if (asks_version && !as_mpirun) {
    print(stdout, mpirun.version_line + "\n");
    return finish_printing();
  }
  const auto line = parse(words, mpirun.version);
  Words direct{mpirun.name};
  if (has_option(line, OptionRole::kHelp) ||
      has_option(line, OptionRole::kVersion) || words.empty()) {
    const Words passed = format_words(line);
    direct.insert(direct.end(), passed.begin(), passed.end());
    execute(mpirun, direct);
  }
  const auto launch = prepare_launch(line, mpirun);
  if (has_option(line, OptionRole::kDryRun)) {
    print(stdout, format_dry_run(launch));
    return finish_printing();
  }
  if (has_option(line, OptionRole::kExplain)) {
    print(stderr, "egpurun:\n" + format_reasons(launch));
  }
  execute(mpirun, launch.command);
}

} // namespace

int main(int argc, char** argv) {
  const Words words(argv + (argc > 0 ? 1 : 0), argv + argc);
  try {
    return run(words, argc > 0 && is_named_mpirun(argv[0]));
  } catch (const Refused& refused) {
    print(stderr, egpurun::topology::format_error("egpurun", refused.error));
    return kRefusedStatus;
  } catch (const egpurun::Error& error) {
    print(stderr, egpurun::topology::format_error("egpurun", error));
    return error.exit_status();
  }
}
