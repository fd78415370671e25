#include <unistd.h>

#include <boost/program_options.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "topology/discovery/discover.h"
#include "topology/error.h"
#include "topology/printable_text.h"
#include "topology/views/host_json.h"
#include "topology/views/host_text.h"

namespace {

namespace options = boost::program_options;
using namespace egpurun::topology;
using Arguments = std::vector<std::string>;

// A word after egpu-topo. The table makes the help and the errors.
struct Command {
  const char* name;
  const char* description;
  int (*run)(const Arguments&);
};

int show(const Arguments& arguments);

constexpr Command kCommands[] = {
    {"show", "GPUs, Thunderbolt routers and network of one PC", show},
};

Error usage_error(const std::string& found, const std::string& advice) {
  return Error(
      ErrorKind::kBadInput,
      "cannot understand the command line",
      printable_text(found),
      advice);
}

options::options_description show_options() {
  options::options_description description("Options of egpu-topo show");
  // clang-format off
  description.add_options()
    ("help", "print this help")
    ("json", "print JSON (schema: topology/README.md)")
    ("machine", options::value<std::string>()->value_name("DIR"),
     "a recorded machine instead of this PC; the default is the environment "
     "variable EGPU_MACHINE");
  // clang-format on
  return description;
}

options::variables_map parse_show(
    const Arguments& arguments,
    const options::options_description& description) {
  options::variables_map values;
  try {
    const int style = options::command_line_style::default_style &
        ~options::command_line_style::allow_guessing;
    options::store(
        options::command_line_parser(arguments)
            .options(description)
            .positional({})
            .style(style)
            .run(),
        values);
  } catch (const options::error& error) {
    throw usage_error(
        error.what(), "`egpu-topo show --help` lists the options");
  }
  return values;
}

int show(const Arguments& arguments) {
  const auto description = show_options();
  const auto values = parse_show(arguments, description);
  if (values.count("help") > 0) {
    std::cout << description;
    return 0;
  }
  const std::filesystem::path machine = values.count("machine") > 0
      ? std::filesystem::path(values["machine"].as<std::string>())
      : default_machine();
  const auto topology = discover_host(machine);
  const bool use_colour =
      ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  std::cout
      << (values.count("json") > 0 ? to_json(topology)
                                   : to_text(topology, use_colour));
  return 0;
}

std::string help() {
  std::string text =
      "egpu-topo: what is this PC, and how are its GPUs attached\n\n"
      "  egpu-topo COMMAND [OPTIONS]\n"
      "  egpu-topo --help | --version\n\nCommands:\n";
  for (const auto& command : kCommands) {
    text += fmt::format("  {:<10}{}\n", command.name, command.description);
  }
  return text + "\n`egpu-topo COMMAND --help` lists a command's options.\n";
}

int run(const Arguments& arguments) {
  const std::string first = arguments.empty() ? "" : arguments.front();
  if (first == "--help" || first == "-h") {
    std::cout << help();
    return 0;
  }
  if (first == "--version") {
    std::cout << "egpu-topo " EGPU_VERSION "\n";
    return 0;
  }
  for (const auto& command : kCommands) {
    if (first == command.name) {
      return command.run({arguments.begin() + 1, arguments.end()});
    }
  }
  throw usage_error(
      first.empty() ? "no command" : "'" + first + "' is no command",
      "`egpu-topo --help` lists the commands; try `egpu-topo show`");
}

} // namespace

int main(int argc, char** argv) {
  try {
    const int status = run(Arguments(argv + 1, argv + argc));
    std::cout << std::flush;
    if (!std::cout) {
      throw Error(
          ErrorKind::kRun,
          "cannot print the result",
          "writing to standard output failed",
          "check the pipe or the disk it goes to");
    }
    return status;
  } catch (const Error& error) {
    std::cerr << format_error("egpu-topo", error) << std::flush;
    return error.exit_status();
  } catch (const std::exception& error) {
    const Error wrapped(
        ErrorKind::kRun,
        "cannot finish",
        error.what(),
        "run it again; if it stays, report it with `egpu-topo --version`");
    std::cerr << format_error("egpu-topo", wrapped) << std::flush;
    return wrapped.exit_status();
  }
}
