#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace egpurun::launcher {

enum class OptionGroup {
  kOwn,
  kGeneral,
  kRanks,
  kHosts,
  kMapping,
  kEnvironment,
  kOutput,
  kControl,
  kDevelopers,
};

// What egpurun itself does about an option, besides handing it to mpirun.
enum class OptionRole {
  kNone,
  kHelp,
  kVersion,
  kHosts, // value: host list
  kHostfile, // value: file
  kRankCount,
  kSearchPath, // value: where mpirun looks for the program
  kWorkingFolder, // value: folder the program starts in
  kParameter, // values: MCA name and value
  kBinding,
  kKeepProgram, // egpu-rank must not stand in front of the program
  kAppFile, // value: file with the contexts; same
  kDryRun,
  kExplain,
  kDiscover,
  kPlain,
};

// An optional value: taken if the next word does not start with '-'.
inline constexpr int kOptionalValue = -1;

// Open MPI's major versions that know an option.
inline constexpr unsigned kVersion4 = 1;
inline constexpr unsigned kVersion5 = 2;
inline constexpr unsigned kBothVersions = kVersion4 | kVersion5;

struct OptionRow {
  const char* names; // without dashes, separated by blanks
  int values; // words that follow, or kOptionalValue
  unsigned versions;
  OptionGroup group;
  OptionRole role;
  const char* value_names; // for the help, "" if there are none
  const char* help;
};

// Union of mpirun 4.1's and 5.0's options, and our own.
std::span<const OptionRow> option_table();

// The names of one row, in order.
std::vector<std::string_view> option_names(const OptionRow& row);

// The row with `name` (no dashes) that `version` knows, else one that the
// other version knows, else null.
const OptionRow* find_option(std::string_view name, unsigned version);

// `name` with the dashes help shows: one for a letter, else two.
std::string dashed(std::string_view name);

// An option of another MPI's mpirun.
struct ForeignOption {
  const char* name;
  const char* of; // "MPICH and Intel MPI"
  const char* write; // Open MPI's form
};

const ForeignOption* find_foreign_option(std::string_view name);

// The known name with the fewest edits, dashed; "" if none is near.
std::string nearest_option(std::string_view name);

} // namespace egpurun::launcher
