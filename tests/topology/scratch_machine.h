#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

namespace egpurun::topology {

// A recorded machine in a temporary folder, removed at the end of the scope.
class ScratchMachine {
 public:
  ScratchMachine() {
    std::string name = std::filesystem::temp_directory_path() / "egpu_XXXXXX";
    folder_ = ::mkdtemp(name.data());
    std::filesystem::create_directories(folder_ / "sys");
  }
  ~ScratchMachine() {
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
  }
  ScratchMachine(const ScratchMachine&) = delete;
  ScratchMachine& operator=(const ScratchMachine&) = delete;

  const std::filesystem::path& folder() const {
    return folder_;
  }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path) << text;
  }
  // A relative link at `path` to `target`, both below the folder.
  void link(const std::string& path, const std::string& target) const {
    const auto place = folder_ / path;
    std::filesystem::create_directories(place.parent_path());
    std::filesystem::create_directories((folder_ / target).parent_path());
    std::filesystem::create_symlink(
        std::filesystem::path(target).lexically_relative(
            std::filesystem::path(path).parent_path()),
        place);
  }
  void copy_from(const std::filesystem::path& machine) const {
    std::filesystem::copy(
        machine,
        folder_,
        std::filesystem::copy_options::recursive |
            std::filesystem::copy_options::copy_symlinks |
            std::filesystem::copy_options::overwrite_existing);
  }

 private:
  std::filesystem::path folder_;
};

inline std::filesystem::path recorded_machine(const std::string& name) {
  return std::filesystem::path(EGPU_SOURCE_DIR) / "tests/data/machines" / name;
}

} // namespace egpurun::topology
