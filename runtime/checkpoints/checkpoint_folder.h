#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runtime/checkpoints/checkpoint_file.h"

namespace egpurun::runtime {

struct LoadedCheckpoint {
  std::int64_t step = 0;
  Checkpoint checkpoint;
  std::filesystem::path path;
  std::vector<std::string>
      warnings; // one per damaged file that was passed over
};

// A job's checkpoints: files step-<10 digits>.safetensors in one folder, which
// belongs to one process at a time (flock on the file `lock` in it, freed by
// the process's death). Used by one thread at a time.
class CheckpointFolder {
 public:
  // Creates the folder if needed, takes the lock, removes unfinished files.
  // Keeps the newest `keep` >= 1 checkpoints. Throws kEnvironment if another
  // process has the lock (naming it) or the folder cannot be used.
  CheckpointFolder(std::filesystem::path path, std::int64_t keep);
  ~CheckpointFolder();
  CheckpointFolder(const CheckpointFolder&) = delete;
  CheckpointFolder& operator=(const CheckpointFolder&) = delete;

  // Writes the checkpoint of `step` >= 0; only when it is safe on disk removes
  // the oldest beyond `keep`. Files of later steps are not of this course of
  // training: they are renamed to *.set-aside, never removed.
  // Throws Error if writing fails; the older checkpoints are intact then.
  std::filesystem::path save(std::int64_t step, const Checkpoint& checkpoint);

  // The newest checkpoint that can be read; nullopt if there is none at all.
  // Passes over damaged files, with a warning each, and removes nothing. Throws
  // Error if all are damaged, or one was made by a newer egpurun.
  std::optional<LoadedCheckpoint> load_latest() const;

  // Steps that have a file, ascending.
  std::vector<std::int64_t> steps() const;

 private:
  void take_lock();
  void remove_unfinished() const;
  void prune(std::int64_t saved_step) const;
  std::filesystem::path file_of(std::int64_t step) const;

  std::filesystem::path path_;
  std::int64_t keep_;
  int lock_ = -1;
};

} // namespace egpurun::runtime
