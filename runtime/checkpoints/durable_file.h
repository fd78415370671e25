#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "topology/error.h"

namespace egpurun::runtime {

// Error (kEnvironment) for a failed system call on `path`; advice fits a full
// disk, missing permission and so on.
Error file_error(
    const std::string& asked,
    const std::filesystem::path& path,
    int errno_value);

// Makes a rename or removal in `folder` survive a power cut. File systems that
// cannot do that are passed over.
void sync_folder(const std::filesystem::path& folder);

// A file that appears under its name only when it is complete. All functions
// throw file_error. One thread at a time.
class DurableFile {
 public:
  // Creates `temporary`, in the same folder as `path`.
  DurableFile(std::filesystem::path path, std::filesystem::path temporary);
  // Removes the temporary file unless publish() was reached.
  ~DurableFile();
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;

  // Appends; keeps the CRC-32 of all bytes so far. A file size limit is an
  // error like others: the signal SIGXFSZ, which kills, is held back.
  void write(const void* data, std::size_t bytes);
  std::uint32_t crc32() const {
    return crc32_;
  }
  // fsync, rename to the final name, fsync of the folder.
  void publish();

 private:
  [[noreturn]] void fail(int errno_value) const;

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
  std::uint64_t written_ = 0;
  std::uint32_t crc32_ = 0;
  bool published_ = false;
};

} // namespace egpurun::runtime
