#pragma once

#include <string>

namespace egpurun::launcher {

enum class SearchResult {
  kFound,
  kNotInPath,
  kNotAccessible, // a path that is missing or not executable
};

struct FoundProgram {
  SearchResult result = SearchResult::kNotInPath;
  std::string path; // what to execute in that folder, when found
};

// Looks for `program` as mpirun 4.1 does: a name with '/' is a path relative
// to `folder`; any other is searched in `search_path` ("a:b"), whose relative
// entries count from `folder` too. "" for `folder` is the working folder.
FoundProgram find_program(
    const std::string& program,
    const std::string& search_path,
    const std::string& folder);

// Value of an environment variable, "" if it is not set.
std::string read_environment(const char* name);

// Folder of the running program's file.
std::string read_own_folder();

} // namespace egpurun::launcher
