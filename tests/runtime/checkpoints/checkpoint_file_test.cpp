#include "runtime/checkpoints/checkpoint_file.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "runtime/checkpoints/checkpoint_layout.h"
#include "runtime/data/random_numbers.h"

namespace egpurun::runtime {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::string read_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_bytes(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// `bytes` with its last four replaced by the checksum of the others.
std::string with_checksum(std::string bytes) {
  const auto size = bytes.size() - 4;
  const auto sum = static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), size));
  std::memcpy(bytes.data() + size, &sum, 4);
  return bytes;
}

Checkpoint all_types() {
  Checkpoint checkpoint;
  checkpoint.metadata = {{"model", "cnn"}, {"note", "Zürich \"1\"\n"}};
  const at::Tensor numbers = at::arange(6).reshape({2, 3});
  const std::vector<std::pair<std::string, at::ScalarType>> types{
      {"bool", at::kBool},
      {"u8", at::kByte},
      {"f16", at::kHalf},
      {"bf16", at::kBFloat16},
      {"f32", at::kFloat},
      {"f64", at::kDouble},
      {"i64", at::kLong},
      {"i32", at::kInt}};
  for (const auto& [name, type] : types) {
    checkpoint.tensors.push_back({name, numbers.to(type)});
  }
  checkpoint.tensors.push_back({"scalar", at::arange(7, 8).reshape({})});
  checkpoint.tensors.push_back({"empty", at::empty({0, 5}, at::kFloat)});
  checkpoint.tensors.push_back({"turned", numbers.to(at::kFloat).t()});
  return checkpoint;
}

class CheckpointFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = fs::temp_directory_path() / "egpu-ckpt-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    path_ = folder_ / "a.safetensors";
  }
  void TearDown() override {
    fs::remove_all(folder_);
  }

  // What reading a file of these bytes says is wrong.
  std::string damage(const std::string& bytes) {
    write_bytes(path_, bytes);
    try {
      read_checkpoint_file(path_);
    } catch (const DamagedCheckpoint& error) {
      EXPECT_EQ(error.place().path, path_.string());
      return error.found();
    }
    ADD_FAILURE() << "read without complaint";
    return "";
  }

  int entries() const {
    return static_cast<int>(std::distance(
        fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
  fs::path path_;
};

TEST_F(CheckpointFile, RoundTripKeepsEveryTypeShapeAndValue) {
  const Checkpoint written = all_types();
  write_checkpoint_file(path_, written);
  const Checkpoint read = read_checkpoint_file(path_);
  EXPECT_EQ(read.metadata.at("note"), "Zürich \"1\"\n");
  EXPECT_EQ(read.metadata.at("model"), "cnn");
  EXPECT_EQ(read.metadata.at("format_version"), "1");
  ASSERT_EQ(read.tensors.size(), written.tensors.size());
  std::map<std::string, at::Tensor> by_name;
  for (const auto& [name, tensor] : read.tensors) {
    by_name[name] = tensor;
  }
  for (const auto& [name, tensor] : written.tensors) {
    ASSERT_TRUE(by_name.count(name)) << name;
    EXPECT_EQ(by_name[name].scalar_type(), tensor.scalar_type()) << name;
    EXPECT_EQ(by_name[name].sizes(), tensor.sizes()) << name;
    EXPECT_TRUE(at::equal(by_name[name], tensor)) << name;
  }
  EXPECT_EQ(entries(), 1); // no temporary file
}

TEST_F(CheckpointFile, TensorsAreAlignedWithoutGapsAndTheChecksumIsLast) {
  write_checkpoint_file(path_, all_types());
  const std::string bytes = read_bytes(path_);
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), 8);
  EXPECT_EQ(header % 8, 0u);
  const auto data = static_cast<std::int64_t>(bytes.size() - 8 - header);
  const auto layout = parse_header(bytes.substr(8, header), data);
  for (const LayoutEntry& entry : layout.entries) {
    EXPECT_EQ(
        entry.begin % static_cast<std::int64_t>(c10::elementSize(entry.type)),
        0)
        << entry.name;
  }
  EXPECT_EQ(layout.entries.back().name, "egpurun.crc32");
  EXPECT_EQ(with_checksum(bytes), bytes);
}

TEST_F(CheckpointFile, WithoutTensorsWorks) {
  write_checkpoint_file(path_, {{{"step", "3"}}, {}});
  EXPECT_EQ(read_checkpoint_file(path_).metadata.at("step"), "3");
}

TEST_F(CheckpointFile, RefusesTensorsItCannotHold) {
  const at::Tensor number = at::arange(1);
  const auto refused = [this](std::vector<NamedTensor> tensors) {
    EXPECT_THROW(write_checkpoint_file(path_, {{}, tensors}), Error);
  };
  refused({{"a", number}, {"a", number}});
  refused({{"__metadata__", number}});
  refused({{"egpurun.crc32", number}});
  refused({{"complex", number.to(at::kComplexFloat)}});
  refused({{"undefined", at::Tensor()}});
  EXPECT_EQ(entries(), 0);
}

TEST_F(CheckpointFile, EveryTruncationIsNoticed) {
  write_checkpoint_file(path_, all_types());
  const std::string bytes = read_bytes(path_);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(damage(bytes.substr(0, size)), "") << size;
  }
  EXPECT_NE(damage(bytes + '\0'), "");
}

TEST_F(CheckpointFile, EveryFlippedBitIsNoticed) {
  write_checkpoint_file(path_, all_types());
  const std::string bytes = read_bytes(path_);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string flipped = bytes;
    flipped[i] = static_cast<char>(flipped[i] ^ (1 << i % 8));
    EXPECT_NE(damage(flipped), "") << "byte " << i;
  }
}

// Damage behind a right checksum reaches the parser: any answer but a crash.
TEST_F(CheckpointFile, SurvivesRandomHeadersWithARightChecksum) {
  write_checkpoint_file(path_, all_types());
  const std::string bytes = read_bytes(path_);
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), 8);
  SplitMix64 random(11);
  const std::string_view letters = "0123456789[]{}\",:-.eUFIB \xFF";
  int refused = 0;
  for (int round = 0; round < 1000; ++round) {
    std::string changed = bytes;
    for (std::uint64_t i = random.below(4) + 1; i > 0; --i) {
      changed[8 + random.below(header)] = letters[random.below(letters.size())];
    }
    write_bytes(path_, with_checksum(changed));
    try {
      read_checkpoint_file(path_);
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 700);
}

TEST_F(CheckpointFile, SaysWhatIsWrong) {
  write_checkpoint_file(path_, all_types());
  const std::string bytes = read_bytes(path_);
  const auto replaced = [&bytes](const std::string& from, std::string to) {
    std::string changed = bytes;
    to.resize(from.size(), ' ');
    changed.replace(changed.find(from), from.size(), to);
    return with_checksum(changed);
  };
  EXPECT_THAT(damage(""), HasSubstr("only 0 bytes"));
  EXPECT_THAT(damage(std::string(64, '\xFF')), HasSubstr("a header of"));
  EXPECT_THAT(damage(replaced("{\"__meta", "x")), HasSubstr("no valid JSON"));
  EXPECT_THAT(damage(replaced("\"F64\"", "\"X64\"")), HasSubstr("type 'X64'"));
  EXPECT_THAT(damage(replaced("[2,3]", "[2,4]")), HasSubstr("fit its shape"));
  EXPECT_THAT(damage(replaced("[2,3]", "[9e9]")), HasSubstr("whole number"));
  EXPECT_THAT(
      damage(replaced("egpurun.crc32", "egpurun.crc33")),
      HasSubstr("does not end with"));
  EXPECT_THAT(
      damage(replaced("egpurun checkpoint", "something entirely")),
      HasSubstr("no format of ours"));
  std::string other_sum = bytes;
  other_sum.back() = static_cast<char>(other_sum.back() ^ 1);
  EXPECT_THAT(damage(other_sum), HasSubstr("checksum"));
}

TEST_F(CheckpointFile, RefusesANewerVersionAsSuch) {
  write_checkpoint_file(path_, {{{"model", "cnn"}}, {}});
  std::string bytes = read_bytes(path_);
  const std::string key = "\"format_version\":\"";
  bytes[bytes.find(key) + key.size()] = '2';
  EXPECT_THAT(damage(bytes), HasSubstr("checksum")); // not just a flipped bit
  write_bytes(path_, with_checksum(bytes));
  try {
    read_checkpoint_file(path_);
    FAIL() << "no error";
  } catch (const DamagedCheckpoint&) {
    FAIL() << "taken for damaged";
  } catch (const Error& error) {
    EXPECT_THAT(error.found(), HasSubstr("made by a newer egpurun"));
    EXPECT_EQ(error.place().path, path_.string());
  }
}

TEST_F(CheckpointFile, MissingFileOrFolderIsAnError) {
  EXPECT_THROW(read_checkpoint_file(path_), Error);
  try {
    write_checkpoint_file(folder_ / "no" / "x", all_types());
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_THAT(error.found(), HasSubstr("No such file"));
  }
}

TEST_F(CheckpointFile, FailedRenameRemovesTheTemporaryFile) {
  fs::create_directories(path_ / "in the way");
  EXPECT_THROW(write_checkpoint_file(path_, all_types()), Error);
  EXPECT_EQ(entries(), 1);
}

} // namespace
} // namespace egpurun::runtime
