#include "jobs/record/record_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <system_error>
#include <utility>

#include "jobs/record/record_json.h"
#include "topology/error.h"

namespace egpurun::jobs {

namespace {

[[noreturn]] void fail(
    const std::filesystem::path& path,
    int rank,
    const std::string& found) {
  throw Error(
      ErrorKind::kEnvironment,
      "cannot write run records",
      found,
      "free space there or choose another report.folder",
      {.rank = rank, .path = path.string()});
}

off_t size_of(int file) {
  struct stat facts {};
  return ::fstat(file, &facts) == 0 ? facts.st_size : 0;
}

} // namespace

RecordWriter::RecordWriter(const std::filesystem::path& folder, int rank)
    : path_(record_path(folder, rank)), rank_(rank) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) {
    fail(path_, rank_, failure.message());
  }
  constexpr mode_t kReadableByAll = 0644;
  file_ = ::open(
      path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, kReadableByAll);
  if (file_ < 0) {
    fail(path_, rank_, topology::errno_text(errno));
  }
  cut_half_line();
}

RecordWriter::~RecordWriter() {
  if (file_ >= 0) {
    ::close(file_);
  }
}

void RecordWriter::write(const RunRecord& record) {
  append(to_json_line(record));
}

void RecordWriter::write(const StepRecord& record) {
  append(to_json_line(record));
}

void RecordWriter::write(const EvaluationRecord& record) {
  append(to_json_line(record));
}

void RecordWriter::append(std::string line) {
  line += '\n';
  const off_t before = size_of(file_);
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t count =
        ::write(file_, line.data() + done, line.size() - done);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      const int reason = errno;
      if (done > 0 && ::ftruncate(file_, before) != 0) {
        fail(path_, rank_, topology::errno_text(reason) + ", half a line left");
      }
      fail(path_, rank_, topology::errno_text(reason));
    }
    done += static_cast<std::size_t>(count);
  }
}

// Searches backwards in blocks for the last line end.
void RecordWriter::cut_half_line() {
  constexpr off_t kBlock = 4096;
  const off_t size = size_of(file_);
  off_t end = size;
  std::string block;
  while (end > 0) {
    const off_t begin = end > kBlock ? end - kBlock : 0;
    block.resize(static_cast<std::size_t>(end - begin));
    const ssize_t count = ::pread(file_, block.data(), block.size(), begin);
    if (count != static_cast<ssize_t>(block.size())) {
      fail(path_, rank_, "a file that cannot be read");
    }
    const std::size_t newline = block.rfind('\n');
    if (newline != std::string::npos) {
      end = begin + static_cast<off_t>(newline) + 1;
      break;
    }
    end = begin;
  }
  if (end != size && ::ftruncate(file_, end) != 0) {
    fail(path_, rank_, topology::errno_text(errno));
  }
}

} // namespace egpurun::jobs
