#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "topology/error.h"

namespace egpurun::runtime {

struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

// What a job needs to go on: strings (step, model, ...) and tensors.
struct Checkpoint {
  std::map<std::string, std::string> metadata;
  std::vector<NamedTensor> tensors;
};

// The version this program writes; it reads this and older ones.
inline constexpr int kCheckpointFormatVersion = 1;

// The file's content is not what its writer wrote, or not ours at all.
class DamagedCheckpoint : public Error {
 public:
  using Error::Error;
};

// Writes a file in safetensors layout (see README.md), so that it exists whole
// or not at all: temporary file beside it, fsync, rename, fsync of the folder.
// Tensors may be on any device. Adds "format" and "format_version" to the
// metadata. Throws Error (kEnvironment, with path and system text) and leaves
// nothing behind if that fails; kRun for a tensor type or name that the format
// has not.
void write_checkpoint_file(
    const std::filesystem::path& path,
    const Checkpoint& checkpoint);

// Reads such a file; tensors are on the CPU. Throws DamagedCheckpoint saying
// what is wrong with it, kBadInput if a newer egpurun wrote it, kEnvironment if
// it cannot be opened.
Checkpoint read_checkpoint_file(const std::filesystem::path& path);

// Name of the temporary file that write_checkpoint_file uses for `path`.
std::filesystem::path unfinished_path(const std::filesystem::path& path);

} // namespace egpurun::runtime
