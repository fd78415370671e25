#include "topology/sysfs/sysfs_tree.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "topology/json_reader.h"
#include "topology/printable_text.h"
#include "topology/sysfs/errno_name.h"

namespace egpurun::topology {
namespace {

constexpr std::size_t kLargestFile = 64 * 1024;

// Closes a file descriptor at the end of a scope.
struct OpenFile {
  explicit OpenFile(const std::filesystem::path& path)
      // O_NONBLOCK: a pipe in a recorded tree must not make us wait.
      : descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~OpenFile() {
    if (descriptor >= 0) {
      ::close(descriptor);
    }
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int descriptor;
};

Reading<std::string> read_file(const std::filesystem::path& path) {
  const OpenFile file(path);
  struct stat facts {};
  if (file.descriptor < 0 || ::fstat(file.descriptor, &facts) != 0) {
    return Reading<std::string>::failed(errno);
  }
  if (!S_ISREG(facts.st_mode)) {
    return Reading<std::string>::failed(
        S_ISDIR(facts.st_mode) ? EISDIR : EINVAL);
  }
  std::string text;
  std::array<char, 4096> block{};
  while (text.size() < kLargestFile) {
    const ssize_t count = ::read(file.descriptor, block.data(), block.size());
    if (count < 0 && errno != EINTR) {
      return Reading<std::string>::failed(errno);
    }
    if (count == 0) {
      break;
    }
    text.append(
        block.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
  return text;
}

bool is_below(
    const std::filesystem::path& path,
    const std::filesystem::path& root) {
  const auto [root_end, path_end] =
      std::mismatch(root.begin(), root.end(), path.begin(), path.end());
  return root_end == root.end();
}

std::string without_edge_slashes(std::string path) {
  while (path.ends_with('/')) {
    path.pop_back();
  }
  path.erase(0, path.find_first_not_of('/'));
  return path;
}

} // namespace

SysfsTree::SysfsTree(const std::filesystem::path& root) {
  std::error_code error;
  root_ = std::filesystem::canonical(root, error);
  if (error || !std::filesystem::is_directory(root_)) {
    throw Error(
        ErrorKind::kBadInput,
        "cannot read the machine recorded in " + root.string(),
        error ? error.message() : "not a folder",
        "give a folder that holds sys/ and proc/",
        {.path = root.string()});
  }
  if (!is_live()) {
    read_recorded_errors();
  }
}

void SysfsTree::read_recorded_errors() {
  const auto path = (root_ / "errors.json").string();
  const auto text = read_file(path);
  if (text.errno_value() == ENOENT) {
    return;
  }
  const JsonReader reader(
      "cannot read the machine's recorded errors", {.path = path});
  const Json json = reader.parse(text.value_or(""));
  std::map<std::string, int> errors;
  for (const auto& [name, entry] : json.items()) {
    std::string errno_text;
    reader.read(entry, name, errno_text);
    const auto value = errno_from_name(errno_text);
    if (!value) {
      throw Error(
          ErrorKind::kBadInput,
          "cannot read the machine's recorded errors",
          "'" + errno_text + "' is no error name",
          "write a name such as EINVAL or EACCES",
          {.path = path});
    }
    const auto attribute = without_edge_slashes(name);
    errors[attribute] = *value;
    // Also under the name with all links resolved, as most readers ask.
    const auto slash = attribute.rfind('/');
    const auto folder = resolve(attribute.substr(0, slash));
    if (slash != std::string::npos && folder.ok()) {
      errors[folder.value() + attribute.substr(slash)] = *value;
    }
  }
  recorded_errors_ = std::move(errors);
}

int SysfsTree::recorded_error(const std::string& path) const {
  if (recorded_errors_.empty()) {
    return 0;
  }
  const auto literal = recorded_errors_.find(without_edge_slashes(path));
  if (literal != recorded_errors_.end()) {
    return literal->second;
  }
  const auto slash = path.rfind('/');
  std::error_code error;
  const auto folder =
      std::filesystem::canonical(root_ / path.substr(0, slash), error);
  if (error || slash == std::string::npos) {
    return 0;
  }
  const auto found = recorded_errors_.find(
      folder.lexically_relative(root_).string() + path.substr(slash));
  return found == recorded_errors_.end() ? 0 : found->second;
}

Reading<std::string> SysfsTree::read_text(const std::string& path) const {
  if (const int error = recorded_error(path); error != 0) {
    return Reading<std::string>::failed(error);
  }
  const auto place = resolve(path);
  if (!place.ok()) {
    return place;
  }
  const auto content = read_file(root_ / place.value());
  if (!content.ok()) {
    return content;
  }
  auto text = printable_text(content.value());
  text.erase(text.find_last_not_of(" \n\t") + 1);
  return text;
}

Reading<std::string> SysfsTree::read_link(const std::string& path) const {
  if (const int error = recorded_error(path); error != 0) {
    return Reading<std::string>::failed(error);
  }
  std::error_code error;
  const auto target = std::filesystem::read_symlink(root_ / path, error);
  if (error) {
    return Reading<std::string>::failed(error.value());
  }
  return printable_text(target.string());
}

Reading<std::string> SysfsTree::resolve(const std::string& path) const {
  if (const int error = recorded_error(path); error != 0) {
    return Reading<std::string>::failed(error);
  }
  std::error_code error;
  const auto place =
      std::filesystem::canonical(root_ / without_edge_slashes(path), error);
  if (error) {
    return Reading<std::string>::failed(error.value());
  }
  if (!is_below(place, root_)) {
    return Reading<std::string>::failed(EXDEV);
  }
  return place.lexically_relative(root_).string();
}

Reading<std::vector<std::string>> SysfsTree::list(
    const std::string& path) const {
  using Names = Reading<std::vector<std::string>>;
  const auto place = resolve(path);
  if (!place.ok()) {
    return Names::failed(place.errno_value());
  }
  std::error_code error;
  std::vector<std::string> names;
  std::filesystem::directory_iterator entry(root_ / place.value(), error);
  while (!error && entry != std::filesystem::directory_iterator()) {
    names.push_back(entry->path().filename().string());
    entry.increment(error);
  }
  if (error) {
    return Names::failed(error.value());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool SysfsTree::exists(const std::string& path) const {
  return resolve(path).ok();
}

std::string last_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

} // namespace egpurun::topology
