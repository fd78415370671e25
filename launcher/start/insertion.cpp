#include "launcher/start/insertion.h"

#include <fmt/format.h>

#include "launcher/start/program_search.h"

namespace egpurun::launcher {

namespace {

std::string last_value(const Context& context, OptionRole role) {
  const auto* option = find_given(context, role);
  return option == nullptr ? "" : option->values.back();
}

// Where mpirun will look: --path, then -x PATH=... or our own PATH.
std::string search_path_of(const Context& context) {
  std::string path = read_environment("PATH");
  for (const auto& option : context.options) {
    if (option.name == "x" && option.values[0].starts_with("PATH=")) {
      path = option.values[0].substr(5);
    }
  }
  const std::string first = last_value(context, OptionRole::kSearchPath);
  return first.empty() ? path : first + ":" + path;
}

// Why no option of the line allows egpu-rank; "" if all do.
std::string find_objection(const CommandLine& line) {
  if (has_option(line, OptionRole::kPlain)) {
    return "--egpu-plain";
  }
  if (has_option(line, OptionRole::kAppFile)) {
    return "--app: the file's programs start as mpirun starts them";
  }
  for (const auto& context : line.contexts) {
    if (const auto* option = find_given(context, OptionRole::kKeepProgram)) {
      return option->words[0] + " looks at the program itself";
    }
  }
  return "";
}

bool is_found(const Context& context) {
  return find_program(
             context.program[0],
             search_path_of(context),
             last_value(context, OptionRole::kWorkingFolder))
             .result == SearchResult::kFound;
}

void insert_into(Context& context, const Words& starter) {
  Words words = starter;
  const std::string path = last_value(context, OptionRole::kSearchPath);
  if (!path.empty()) {
    words.insert(words.end(), {"--path", path});
  }
  words.emplace_back("--");
  context.program.insert(context.program.begin(), words.begin(), words.end());
}

} // namespace

void insert_rank_starter(
    CommandLine& line,
    const Words& starter,
    std::vector<std::string>& notes) {
  const std::string objection = find_objection(line);
  if (!objection.empty()) {
    notes.push_back("egpu-rank is left out: " + objection);
    return;
  }
  for (auto& context : line.contexts) {
    if (context.program.empty()) {
      continue;
    }
    if (is_found(context)) {
      insert_into(context, starter);
    } else {
      notes.push_back(fmt::format(
          "egpu-rank is left out: '{}' is not found here, mpirun will say more",
          context.program[0]));
    }
  }
}

} // namespace egpurun::launcher
