#include "runtime/checkpoints/checkpoint_file.h"

#include <ATen/ops/empty.h>
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <set>
#include <stdexcept>

#include "runtime/checkpoints/checkpoint_layout.h"
#include "runtime/checkpoints/durable_file.h"

namespace egpurun::runtime {
namespace {

static_assert(std::endian::native == std::endian::little, "the file's order");

constexpr std::int64_t kLengthBytes = 8;
// As in safetensors; far more than the header of any network.
constexpr std::int64_t kMaxHeaderBytes = 100'000'000;

Error unusable_tensor(const std::string& name, const std::string& why) {
  return Error(
      ErrorKind::kRun,
      "cannot put a tensor into a checkpoint",
      fmt::format("'{}': {}", name, why),
      "report this as an error of egpurun");
}

// Larger elements first, so that every tensor is aligned in the file.
std::vector<NamedTensor> in_file_order(std::vector<NamedTensor> tensors) {
  std::stable_sort(
      tensors.begin(), tensors.end(), [](const auto& a, const auto& b) {
        return a.tensor.element_size() > b.tensor.element_size();
      });
  return tensors;
}

CheckpointLayout layout_of(
    const std::map<std::string, std::string>& metadata,
    const std::vector<NamedTensor>& tensors) {
  CheckpointLayout layout;
  layout.metadata = metadata;
  layout.metadata["format"] = kFormatName;
  layout.metadata["format_version"] = std::to_string(kCheckpointFormatVersion);
  std::int64_t position = 0;
  std::set<std::string> names{"__metadata__", std::string(kChecksumName)};
  for (const auto& [name, tensor] : tensors) {
    if (!tensor.defined() || !type_name(tensor.scalar_type())) {
      throw unusable_tensor(name, "undefined, or of a type without a name");
    }
    if (!names.insert(name).second) {
      throw unusable_tensor(name, "the name is taken");
    }
    const std::int64_t end =
        position + static_cast<std::int64_t>(tensor.nbytes());
    layout.entries.push_back(
        {name, tensor.scalar_type(), tensor.sizes().vec(), position, end});
    position = end;
  }
  layout.entries.push_back(
      {std::string(kChecksumName),
       c10::ScalarType::Byte,
       {kChecksumBytes},
       position,
       position + kChecksumBytes});
  return layout;
}

// Reads a checkpoint from front to back and sums up its CRC-32.
class CheckpointReader {
 public:
  explicit CheckpointReader(const std::filesystem::path& path) : path_(path) {
    std::error_code error; // also for a pipe, which would be opened for ever
    size_ = static_cast<std::int64_t>(std::filesystem::file_size(path, error));
    if (error) {
      throw file_error("cannot read the checkpoint", path, error.value());
    }
    file_.reset(std::fopen(path.c_str(), "rbe"));
    if (!file_) {
      throw file_error("cannot read the checkpoint", path, errno);
    }
  }

  std::int64_t size() const {
    return size_;
  }
  std::uint32_t crc32() const {
    return crc32_;
  }

  void read(void* target, std::int64_t bytes) {
    const auto wanted = static_cast<std::size_t>(bytes);
    if (std::fread(target, 1, wanted, file_.get()) != wanted) {
      fail(
          std::ferror(file_.get()) ? topology::errno_text(errno)
                                   : "the file ends too early");
    }
    crc32_ = static_cast<std::uint32_t>(
        crc32_z(crc32_, static_cast<const Bytef*>(target), wanted));
  }

  [[noreturn]] void fail(const std::string& found) const {
    throw DamagedCheckpoint(
        ErrorKind::kBadInput,
        "cannot use the checkpoint",
        "damaged, or no checkpoint of egpurun: " + found,
        "remove the file to go on from an older one",
        {.path = path_.string()});
  }

 private:
  std::filesystem::path path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{nullptr, std::fclose};
  std::int64_t size_ = 0;
  std::uint32_t crc32_ = 0;
};

CheckpointLayout read_layout(CheckpointReader& reader) {
  if (reader.size() < kLengthBytes) {
    reader.fail(fmt::format("only {} bytes", reader.size()));
  }
  std::uint64_t length = 0;
  reader.read(&length, kLengthBytes);
  const std::int64_t largest =
      std::min(kMaxHeaderBytes, reader.size() - kLengthBytes);
  if (length > static_cast<std::uint64_t>(largest)) {
    reader.fail(fmt::format(
        "a header of {} bytes in a file of {}", length, reader.size()));
  }
  std::string json(length, '\0');
  const auto json_bytes = static_cast<std::int64_t>(length);
  reader.read(json.data(), json_bytes);
  try {
    return parse_header(json, reader.size() - kLengthBytes - json_bytes);
  } catch (const std::invalid_argument& error) {
    reader.fail(error.what());
  }
}

at::Tensor read_tensor(CheckpointReader& reader, const LayoutEntry& entry) {
  at::Tensor tensor =
      at::empty(entry.shape, at::TensorOptions().dtype(entry.type));
  if (tensor.nbytes() == 0) {
    return tensor;
  }
  reader.read(tensor.mutable_data_ptr(), entry.end - entry.begin);
  if (entry.type == c10::ScalarType::Bool) {
    const auto* bytes =
        static_cast<const std::uint8_t*>(tensor.const_data_ptr());
    if (std::any_of(
            bytes, bytes + tensor.nbytes(), [](auto b) { return b > 1; })) {
      reader.fail(fmt::format("'{}' holds no truth values", entry.name));
    }
  }
  return tensor;
}

void check_checksum(CheckpointReader& reader) {
  const std::uint32_t computed = reader.crc32();
  std::uint32_t written = 0;
  reader.read(&written, kChecksumBytes);
  if (computed != written) {
    reader.fail(fmt::format(
        "the checksum is {:08x}, but {:08x} was written", computed, written));
  }
}

void check_format(
    const CheckpointReader& reader,
    const std::filesystem::path& path,
    const std::map<std::string, std::string>& metadata) {
  const auto format = metadata.find("format");
  const auto version = metadata.find("format_version");
  if (format == metadata.end() || format->second != kFormatName ||
      version == metadata.end()) {
    reader.fail("its metadata names no format of ours");
  }
  const std::string& text = version->second;
  int number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1) {
    reader.fail(fmt::format("its format_version is '{}'", text));
  }
  if (number > kCheckpointFormatVersion) {
    throw Error(
        ErrorKind::kBadInput,
        "cannot use the checkpoint",
        fmt::format(
            "made by a newer egpurun: format version {}, but this one knows "
            "up to {}",
            number,
            kCheckpointFormatVersion),
        "update egpurun, or set checkpoint.resume = \"never\" and another "
        "checkpoint.folder",
        {.path = path.string()});
  }
}

} // namespace

std::filesystem::path unfinished_path(const std::filesystem::path& path) {
  return path.string() + ".unfinished";
}

void write_checkpoint_file(
    const std::filesystem::path& path,
    const Checkpoint& checkpoint) {
  const auto tensors = in_file_order(checkpoint.tensors);
  const std::string header =
      format_header(layout_of(checkpoint.metadata, tensors));
  DurableFile file(path, unfinished_path(path));
  file.write(header.data(), header.size());
  for (const NamedTensor& named : tensors) {
    const at::Tensor plain = named.tensor.detach().cpu().contiguous();
    file.write(plain.const_data_ptr(), plain.nbytes());
  }
  const std::uint32_t checksum = file.crc32();
  file.write(&checksum, sizeof checksum);
  file.publish();
}

Checkpoint read_checkpoint_file(const std::filesystem::path& path) {
  CheckpointReader reader(path);
  CheckpointLayout layout = read_layout(reader);
  layout.entries.pop_back(); // the checksum
  Checkpoint checkpoint;
  checkpoint.metadata = std::move(layout.metadata);
  for (const LayoutEntry& entry : layout.entries) {
    checkpoint.tensors.push_back({entry.name, read_tensor(reader, entry)});
  }
  check_checksum(reader);
  check_format(reader, path, checkpoint.metadata);
  return checkpoint;
}

} // namespace egpurun::runtime
