#include "runtime/checkpoints/durable_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <utility>

#include "topology/units.h"

namespace egpurun::runtime {
namespace {

std::string advice_for(int errno_value) {
  switch (errno_value) {
    case ENOSPC:
    case EDQUOT:
      return "free space there, lower checkpoint.keep, or choose another "
             "checkpoint.folder";
    case EFBIG:
      return "raise the file size limit (ulimit -f), or choose another "
             "checkpoint.folder";
    case EACCES:
    case EPERM:
    case EROFS:
      return "give yourself write permission there, or choose another "
             "checkpoint.folder";
    default:
      return "check the disk, or choose another checkpoint.folder";
  }
}

// Holds SIGXFSZ back from this thread while it lives. A write beyond the limit
// raises it for the writing thread, which by default ends the process.
class FileSizeSignalHeld {
 public:
  FileSizeSignalHeld() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~FileSizeSignalHeld() {
    if (!sigismember(&before_, SIGXFSZ)) {
      const timespec no_wait{};
      sigtimedwait(&signal_, nullptr, &no_wait); // takes a pending one away
      pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
  }
  FileSizeSignalHeld(const FileSizeSignalHeld&) = delete;
  FileSizeSignalHeld& operator=(const FileSizeSignalHeld&) = delete;

 private:
  sigset_t signal_;
  sigset_t before_;
};

} // namespace

Error file_error(
    const std::string& asked,
    const std::filesystem::path& path,
    int errno_value) {
  return Error(
      ErrorKind::kEnvironment,
      asked,
      topology::errno_text(errno_value),
      advice_for(errno_value),
      {.path = path.string()});
}

void sync_folder(const std::filesystem::path& folder) {
  const int descriptor =
      open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) {
    throw file_error("cannot open the checkpoint folder", folder, errno);
  }
  const int result = fsync(descriptor);
  const int code = errno;
  close(descriptor);
  if (result != 0 && code != EINVAL && code != ENOTSUP) {
    throw file_error("cannot save the checkpoint folder", folder, code);
  }
}

DurableFile::DurableFile(
    std::filesystem::path path,
    std::filesystem::path temporary)
    : path_(std::move(path)), temporary_(std::move(temporary)) {
  descriptor_ =
      open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    fail(errno);
  }
}

DurableFile::~DurableFile() {
  if (descriptor_ >= 0) {
    close(descriptor_);
  }
  if (!published_) {
    unlink(temporary_.c_str());
  }
}

void DurableFile::write(const void* data, std::size_t bytes) {
  if (bytes == 0) {
    return; // its data may be null, for which zlib would start the sum anew
  }
  const FileSizeSignalHeld held;
  crc32_ = static_cast<std::uint32_t>(
      crc32_z(crc32_, static_cast<const Bytef*>(data), bytes));
  const char* position = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t done = ::write(descriptor_, position, bytes);
    if (done < 0 && errno == EINTR) {
      continue;
    }
    if (done <= 0) {
      fail(done == 0 ? ENOSPC : errno);
    }
    position += done;
    bytes -= static_cast<std::size_t>(done);
    written_ += static_cast<std::uint64_t>(done);
  }
}

void DurableFile::publish() {
  if (fsync(descriptor_) != 0) {
    fail(errno);
  }
  // Network file systems may report a full disk only now.
  if (close(std::exchange(descriptor_, -1)) != 0) {
    fail(errno);
  }
  if (rename(temporary_.c_str(), path_.c_str()) != 0) {
    fail(errno);
  }
  published_ = true;
  sync_folder(path_.parent_path().empty() ? "." : path_.parent_path());
}

void DurableFile::fail(int errno_value) const {
  const Error plain =
      file_error("cannot save the checkpoint", path_, errno_value);
  throw Error(
      plain.kind(),
      plain.asked(),
      fmt::format(
          "{}, after {:.1f} MB", plain.found(), Bytes{written_}.megabytes()),
      plain.advice(),
      plain.place());
}

} // namespace egpurun::runtime
