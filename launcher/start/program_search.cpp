#include "launcher/start/program_search.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace egpurun::launcher {

namespace {

std::string joined(const std::string& folder, const std::string& path) {
  if (folder.empty() || path.starts_with('/')) {
    return path;
  }
  return folder + "/" + path;
}

// mpirun's spelling of a relative search path, which the program sees as its
// name: "." becomes the whole folder, "bin" becomes "./bin".
std::string search_folder(const std::string& entry, const std::string& folder) {
  if (entry.empty() || entry == ".") {
    std::error_code error;
    return folder.empty() ? std::filesystem::current_path(error).string()
                          : folder;
  }
  return entry.starts_with('/') ? entry : "./" + entry;
}

bool is_program_file(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
      access(path.c_str(), X_OK) == 0;
}

} // namespace

FoundProgram find_program(
    const std::string& program,
    const std::string& search_path,
    const std::string& folder) {
  if (program.find('/') != std::string::npos) {
    const std::string path = joined(folder, program);
    const bool accessible = access(path.c_str(), X_OK) == 0;
    return {
        accessible ? SearchResult::kFound : SearchResult::kNotAccessible, path};
  }
  std::istringstream entries(search_path);
  std::string entry;
  while (std::getline(entries, entry, ':')) {
    const std::string path = search_folder(entry, folder) + "/" + program;
    if (is_program_file(joined(folder, path))) {
      return {SearchResult::kFound, path};
    }
  }
  return {SearchResult::kNotInPath, ""};
}

std::string read_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string read_own_folder() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  return program.parent_path().string();
}

} // namespace egpurun::launcher
