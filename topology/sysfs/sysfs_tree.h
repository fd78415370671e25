#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "topology/sysfs/reading.h"

namespace egpurun::topology {

// Reads the files Linux shows about its hardware below a root: "/" of the
// running machine or the folder of a recorded one. Paths are relative to that
// root ("sys/class/net/eth0/speed"). Nothing outside the root is ever read,
// whatever a recorded tree's links say. Read-only; safe to share by threads.
class SysfsTree {
 public:
  // Honours ROOT/errors.json, {path: errno name}: these reads fail that way.
  // Throws Error (kBadInput) if root is not a folder or errors.json is wrong.
  explicit SysfsTree(const std::filesystem::path& root);

  // Content without trailing white space, made printable; 64 KiB at most.
  Reading<std::string> read_text(const std::string& path) const;
  // Where a link points to, unchanged.
  Reading<std::string> read_link(const std::string& path) const;
  // Path below the root with all links resolved.
  Reading<std::string> resolve(const std::string& path) const;
  // Sorted names in a folder.
  Reading<std::vector<std::string>> list(const std::string& path) const;
  bool exists(const std::string& path) const;

  const std::filesystem::path& root() const {
    return root_;
  }
  // True for "/": the kernel may be asked further questions.
  bool is_live() const {
    return root_ == "/";
  }

 private:
  void read_recorded_errors();
  // 0, or the errno recorded for this path.
  int recorded_error(const std::string& path) const;

  std::filesystem::path root_; // canonical
  std::map<std::string, int> recorded_errors_;
};

// Last component of a path: the name a device or driver link points to.
std::string last_name(const std::string& path);

} // namespace egpurun::topology
