#include "runtime/checkpoints/checkpoint_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "runtime/checkpoints/durable_file.h"
#include "topology/printable_text.h"

namespace egpurun::runtime {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStem = "step-";
constexpr std::string_view kEnding = ".safetensors";
constexpr std::size_t kDigits = 10; // at least; more for larger steps

// The step in a checkpoint's file name; nullopt for other names.
std::optional<std::int64_t> step_of(const std::string& name) {
  if (!name.starts_with(kStem) || !name.ends_with(kEnding) ||
      name.size() < kStem.size() + kDigits + kEnding.size()) {
    return std::nullopt;
  }
  const char* begin = name.data() + kStem.size();
  const char* end = name.data() + name.size() - kEnding.size();
  std::int64_t step = 0;
  const auto [stop, error] = std::from_chars(begin, end, step);
  if (error != std::errc() || stop != end || *begin == '-') {
    return std::nullopt;
  }
  return step;
}

// Names of all entries; the folder may change meanwhile.
std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  while (!error && entry != fs::directory_iterator()) {
    names.push_back(entry->path().filename().string());
    entry.increment(error);
  }
  if (error) {
    throw file_error(
        "cannot list the checkpoint folder", folder, error.value());
  }
  return names;
}

// "<path>.set-aside", or with a number if that is taken.
fs::path free_name_beside(const fs::path& path) {
  fs::path name = path.string() + ".set-aside";
  for (int i = 2; fs::exists(name); ++i) {
    name = fmt::format("{}.set-aside-{}", path.string(), i);
  }
  return name;
}

std::string this_process() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return fmt::format("process {} on host {}", getpid(), host.data());
}

std::string first_bytes_of(int descriptor) {
  std::array<char, 300> text{};
  const ssize_t size = pread(descriptor, text.data(), text.size(), 0);
  return size > 0 ? topology::printable_text(std::string_view(
                        text.data(), static_cast<std::size_t>(size)))
                  : "an unknown process";
}

} // namespace

CheckpointFolder::CheckpointFolder(fs::path path, std::int64_t keep)
    : path_(std::move(path)), keep_(std::max<std::int64_t>(1, keep)) {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) {
    throw file_error(
        "cannot create the checkpoint folder", path_, error.value());
  }
  take_lock();
  try {
    remove_unfinished();
  } catch (...) {
    close(lock_);
    throw;
  }
}

CheckpointFolder::~CheckpointFolder() {
  close(lock_); // the file stays: removing it would race with the next holder
}

void CheckpointFolder::take_lock() {
  const fs::path file = path_ / "lock";
  lock_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock_ < 0) {
    throw file_error("cannot open the checkpoint folder's lock", file, errno);
  }
  if (flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    const int code = errno;
    const std::string holder = first_bytes_of(lock_);
    close(lock_);
    if (code != EWOULDBLOCK) {
      throw file_error("cannot lock the checkpoint folder", file, code);
    }
    throw Error(
        ErrorKind::kEnvironment,
        "cannot use the checkpoint folder",
        fmt::format("another job writes into it: {}", holder),
        "wait for that job, end it, or choose another checkpoint.folder",
        {.path = path_.string()});
  }
  // Only a text for the next reader: the lock works without it.
  const std::string text = this_process();
  if (ftruncate(lock_, 0) == 0) {
    std::ignore = pwrite(lock_, text.data(), text.size(), 0);
  }
}

void CheckpointFolder::remove_unfinished() const {
  const std::string ending = unfinished_path(std::string(kEnding)).string();
  for (const std::string& name : names_in(path_)) {
    if (name.starts_with(kStem) && name.ends_with(ending)) {
      std::error_code ignored;
      fs::remove(path_ / name, ignored);
    }
  }
}

fs::path CheckpointFolder::file_of(std::int64_t step) const {
  return path_ / fmt::format("{}{:010}{}", kStem, step, kEnding);
}

std::vector<std::int64_t> CheckpointFolder::steps() const {
  std::vector<std::int64_t> steps;
  for (const std::string& name : names_in(path_)) {
    if (const auto step = step_of(name)) {
      steps.push_back(*step);
    }
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

fs::path CheckpointFolder::save(
    std::int64_t step,
    const Checkpoint& checkpoint) {
  const fs::path path = file_of(step);
  write_checkpoint_file(path, checkpoint);
  prune(step);
  return path;
}

void CheckpointFolder::prune(std::int64_t saved_step) const {
  const std::vector<std::int64_t> all = steps();
  const auto later = std::upper_bound(all.begin(), all.end(), saved_step);
  std::error_code ignored; // what cannot be tidied up is no reason to stop
  for (auto step = later; step != all.end(); ++step) {
    fs::rename(file_of(*step), free_name_beside(file_of(*step)), ignored);
  }
  const auto surplus = (later - all.begin()) - keep_;
  for (std::ptrdiff_t i = 0; i < surplus; ++i) {
    fs::remove(file_of(all[static_cast<std::size_t>(i)]), ignored);
  }
}

std::optional<LoadedCheckpoint> CheckpointFolder::load_latest() const {
  const std::vector<std::int64_t> all = steps();
  LoadedCheckpoint loaded;
  for (auto step = all.rbegin(); step != all.rend(); ++step) {
    const fs::path path = file_of(*step);
    try {
      loaded.checkpoint = read_checkpoint_file(path);
      loaded.step = *step;
      loaded.path = path;
      return loaded;
    } catch (const DamagedCheckpoint& damaged) {
      loaded.warnings.push_back(
          fmt::format("{}: {}", path.string(), damaged.found()));
    }
  }
  if (loaded.warnings.empty()) {
    return std::nullopt;
  }
  throw Error(
      ErrorKind::kEnvironment,
      "cannot resume from the checkpoint folder",
      fmt::format(
          "{} checkpoints, all damaged; the newest: {}",
          loaded.warnings.size(),
          loaded.warnings.front()),
      "restore a copy, or move the files away to start from the beginning",
      {.path = path_.string()});
}

} // namespace egpurun::runtime
