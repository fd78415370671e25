#include "runtime/data/idx_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <memory>

#include "topology/error.h"

namespace egpurun::runtime {
namespace {

// More than any data set of ours; keeps a corrupt header from looking valid.
constexpr std::int64_t kMaxValues = std::int64_t{1} << 34;
constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

Error idx_error(const std::string& path, std::string found, bool missing) {
  return Error(
      ErrorKind::kBadInput,
      "cannot read the data file",
      std::move(found),
      missing
          ? "install the data set (Debian: dataset-fashion-mnist) or set "
            "data.folder to where its files are"
          : "get a fresh copy of the file; it must be an IDX file as in MNIST",
      {{}, {}, path});
}

class GzipReader {
 public:
  explicit GzipReader(const std::string& path)
      : path_(path), file_(gzopen(path.c_str(), "rb"), gzclose) {
    if (!file_) {
      const int code = errno;
      throw idx_error(path, topology::errno_text(code), code == ENOENT);
    }
    gzbuffer(file_.get(), 1 << 17);
  }

  // Bytes read: `size`, or fewer at the end of the file.
  std::size_t read(std::uint8_t* target, std::size_t size) {
    const int got =
        gzread(file_.get(), target, static_cast<unsigned int>(size));
    int code = Z_OK;
    const char* text = gzerror(file_.get(), &code);
    if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) {
      // At a premature end zlib gives the bytes it has and Z_BUF_ERROR.
      throw idx_error(
          path_,
          code == Z_ERRNO ? topology::errno_text(errno)
              : code == Z_BUF_ERROR
              ? "a truncated gzip file"
              : fmt::format("a damaged gzip file ({})", text),
          false);
    }
    return static_cast<std::size_t>(got);
  }

 private:
  std::string path_;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
};

std::vector<std::int64_t> read_shape(
    GzipReader& reader,
    const std::string& path,
    int dimensions) {
  std::array<std::uint8_t, 4> word{};
  const auto read_word = [&](const char* what) {
    if (reader.read(word.data(), word.size()) < word.size()) {
      throw idx_error(
          path, fmt::format("the file ends within its {}", what), false);
    }
  };
  read_word("magic number");
  const std::array<std::uint8_t, 4> expected{
      0, 0, 8, static_cast<std::uint8_t>(dimensions)};
  if (word != expected) {
    throw idx_error(
        path,
        fmt::format(
            "magic number {:02x}{:02x}{:02x}{:02x} instead of 000008{:02x}",
            word[0],
            word[1],
            word[2],
            word[3],
            dimensions),
        false);
  }
  std::vector<std::int64_t> shape;
  for (int i = 0; i < dimensions; ++i) {
    read_word("sizes");
    std::int64_t size = 0;
    for (const std::uint8_t byte : word) {
      size = size * 256 + byte;
    }
    shape.push_back(size);
  }
  return shape;
}

std::int64_t value_count(
    const std::vector<std::int64_t>& shape,
    const std::string& path) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    if (size > 0 && count > kMaxValues / size) {
      throw idx_error(path, "sizes too large to be true", false);
    }
    count *= size;
  }
  return count;
}

} // namespace

IdxArray read_idx_file(const std::string& path, int dimensions) {
  GzipReader reader(path);
  IdxArray array;
  array.shape = read_shape(reader, path, dimensions);
  const auto wanted = static_cast<std::size_t>(value_count(array.shape, path));
  // Grows with what is really there, so a wrong header cannot exhaust memory.
  std::size_t have = 0;
  while (have < wanted) {
    const std::size_t chunk = std::min(kChunkBytes, wanted - have);
    array.values.resize(have + chunk);
    const std::size_t got = reader.read(array.values.data() + have, chunk);
    have += got;
    if (got < chunk) {
      throw idx_error(
          path,
          fmt::format("{} of {} values, then the file ends", have, wanted),
          false);
    }
  }
  // Reading past the end also makes zlib check the gzip checksum.
  std::uint8_t extra = 0;
  if (reader.read(&extra, 1) != 0) {
    throw idx_error(
        path, fmt::format("more than the announced {} values", wanted), false);
  }
  return array;
}

} // namespace egpurun::runtime
