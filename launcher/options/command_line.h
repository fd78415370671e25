#pragma once

#include <string>
#include <vector>

#include "launcher/options/option_table.h"

namespace egpurun::launcher {

using Words = std::vector<std::string>;

// An option as it stands on the command line.
struct GivenOption {
  const OptionRow* row = nullptr;
  std::string name; // without dashes and value
  Words values;
  Words words; // what mpirun gets: name as written, then values
};

// What stands between two ':'.
struct Context {
  std::vector<GivenOption> options; // mpirun's, in order
  bool has_end_mark = false; // "--" before the program
  Words program; // program and its arguments; may be empty
};

// A whole command line of mpirun, with our own options taken out.
struct CommandLine {
  std::vector<Context> contexts;
  std::vector<GivenOption> own; // --egpu-*
};

// Splits `words` (without the program's own name) as mpirun `version` does.
// "--opt=value" becomes two words: 4 knows no other form, 5 not for all. Throws
// Error (kBadInput) for an option that this mpirun does not know and for a
// missing value.
CommandLine parse_command_line(const Words& words, unsigned version);

// The last option with `role` in a context, else null.
const GivenOption* find_given(const Context& context, OptionRole role);

// True if any context, or the own options, has an option with `role`.
bool has_option(const CommandLine& line, OptionRole role);

// Value of MCA parameter `name` in any context, "" if it is not there.
std::string parameter_value(const CommandLine& line, const std::string& name);

// Same words as were parsed, own options left out.
Words format_words(const CommandLine& line);

} // namespace egpurun::launcher
