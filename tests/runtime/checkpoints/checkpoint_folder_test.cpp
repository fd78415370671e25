#include "runtime/checkpoints/checkpoint_folder.h"

#include <ATen/ops/empty.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "runtime/data/random_numbers.h"

namespace egpurun::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
namespace fs = std::filesystem;

// A checkpoint whose every number is `step`. Plain loops: it is also made in
// forked children, where torch's thread pool does not exist.
Checkpoint checkpoint_of(std::int64_t step, std::int64_t elements = 64) {
  at::Tensor tensor = at::empty({elements}, at::kLong);
  auto* values = tensor.mutable_data_ptr<std::int64_t>();
  std::fill(values, values + elements, step);
  return {{{"step", std::to_string(step)}}, {{"values", tensor}}};
}

bool is_whole(const LoadedCheckpoint& loaded) {
  const at::Tensor& tensor = loaded.checkpoint.tensors.at(0).tensor;
  const auto* values = tensor.const_data_ptr<std::int64_t>();
  return std::all_of(values, values + tensor.numel(), [&](auto value) {
    return value == loaded.step;
  });
}

class Folder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = fs::temp_directory_path() / "egpu-folder-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    path_ = root_ / "a" / "checkpoints";
  }
  void TearDown() override {
    fs::remove_all(root_);
  }

  fs::path file(const char* name) const {
    return path_ / name;
  }
  void cut(const fs::path& path) const {
    fs::resize_file(path, fs::file_size(path) - 1);
  }

  fs::path root_;
  fs::path path_;
};

TEST_F(Folder, EmptyFolderHasNothingToLoad) {
  const CheckpointFolder folder(path_, 3);
  EXPECT_FALSE(folder.load_latest());
  EXPECT_THAT(folder.steps(), IsEmpty());
}

TEST_F(Folder, KeepsTheNewestAndLoadsTheLatest) {
  CheckpointFolder folder(path_, 2);
  const std::vector<std::int64_t> saved{0, 9, 10, 100, 10'000'000'000};
  for (const std::int64_t step : saved) {
    folder.save(step, checkpoint_of(step));
  }
  EXPECT_THAT(folder.steps(), ElementsAre(100, 10'000'000'000));
  const auto latest = folder.load_latest();
  ASSERT_TRUE(latest);
  EXPECT_EQ(latest->step, 10'000'000'000);
  EXPECT_EQ(latest->checkpoint.metadata.at("step"), "10000000000");
  EXPECT_TRUE(is_whole(*latest));
  EXPECT_THAT(latest->warnings, IsEmpty());
}

TEST_F(Folder, SavingAStepAgainReplacesIt) {
  CheckpointFolder folder(path_, 2);
  folder.save(5, checkpoint_of(4));
  EXPECT_EQ(
      folder.save(5, checkpoint_of(5)), file("step-0000000005.safetensors"));
  EXPECT_TRUE(is_whole(folder.load_latest().value()));
}

TEST_F(Folder, PassesOverDamagedFilesAndRemovesNone) {
  CheckpointFolder folder(path_, 5);
  for (const std::int64_t step : {1, 2, 3}) {
    folder.save(step, checkpoint_of(step));
  }
  cut(file("step-0000000003.safetensors"));
  cut(file("step-0000000002.safetensors"));
  const auto latest = folder.load_latest();
  ASSERT_TRUE(latest);
  EXPECT_EQ(latest->step, 1);
  EXPECT_THAT(
      latest->warnings,
      ElementsAre(HasSubstr("step-0000000003"), HasSubstr("step-0000000002")));
  EXPECT_THAT(folder.steps(), ElementsAre(1, 2, 3));
}

TEST_F(Folder, FilesOfLaterStepsAreSetAsideAndNeverRemoved) {
  CheckpointFolder folder(path_, 1);
  folder.save(8, checkpoint_of(8));
  folder.save(3, checkpoint_of(3)); // training starts over
  EXPECT_TRUE(fs::exists(file("step-0000000008.safetensors.set-aside")));
  EXPECT_EQ(folder.load_latest()->step, 3);
  folder.save(8, checkpoint_of(8));
  folder.save(4, checkpoint_of(4));
  EXPECT_TRUE(fs::exists(file("step-0000000008.safetensors.set-aside")));
  EXPECT_TRUE(fs::exists(file("step-0000000008.safetensors.set-aside-2")));
  EXPECT_THAT(folder.steps(), ElementsAre(4));
}

TEST_F(Folder, OnlyDamagedFilesAreAnError) {
  CheckpointFolder folder(path_, 5);
  folder.save(1, checkpoint_of(1));
  cut(file("step-0000000001.safetensors"));
  try {
    folder.load_latest();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_THAT(error.found(), HasSubstr("all damaged"));
  }
  EXPECT_THAT(folder.steps(), ElementsAre(1));
}

TEST_F(Folder, TidiesUpUnfinishedFilesAndLeavesOthersAlone) {
  fs::create_directories(path_);
  for (const char* name :
       {"step-0000000007.safetensors.unfinished",
        "notes.txt",
        "step-7.safetensors",
        "step-00000000x7.safetensors",
        "step--000000007.safetensors",
        "step-99999999999999999999.safetensors"}) {
    std::ofstream(file(name)) << "x";
  }
  CheckpointFolder folder(path_, 1);
  EXPECT_FALSE(fs::exists(file("step-0000000007.safetensors.unfinished")));
  EXPECT_FALSE(folder.load_latest());
  folder.save(1, checkpoint_of(1));
  EXPECT_TRUE(fs::exists(file("notes.txt")));
  EXPECT_TRUE(fs::exists(file("step-7.safetensors")));
  EXPECT_TRUE(fs::exists(file("step-99999999999999999999.safetensors")));
}

TEST_F(Folder, SecondHolderIsToldWhoTheFirstIs) {
  const CheckpointFolder folder(path_, 1);
  try {
    CheckpointFolder(path_, 1);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_THAT(error.found(), HasSubstr(std::to_string(getpid())));
    EXPECT_EQ(error.place().path, path_.string());
  }
}

TEST_F(Folder, LockEndsWithItsHolder) {
  { const CheckpointFolder folder(path_, 1); }
  EXPECT_NO_THROW(CheckpointFolder(path_, 1));
}

TEST_F(Folder, UnusableFolderIsAnError) {
  std::ofstream(root_ / "file") << "x";
  EXPECT_THROW(CheckpointFolder(root_ / "file" / "sub", 1), Error);
  EXPECT_THROW(CheckpointFolder(root_ / "file", 1), Error);
}

// Saves step after step, and reports each finished one through the pipe.
[[noreturn]] void save_for_ever(const fs::path& path, int pipe_end) {
  try {
    CheckpointFolder folder(path, 2);
    const auto latest = folder.load_latest();
    std::int64_t step = latest ? latest->step + 1 : 1;
    for (;; ++step) {
      folder.save(step, checkpoint_of(step, 1 << 17)); // 1 MiB
      if (write(pipe_end, &step, sizeof step) != sizeof step) {
        _exit(3);
      }
    }
  } catch (const std::exception&) {
    _exit(2);
  }
}

TEST_F(Folder, KilledWhileSavingNeverLosesTheLastGoodOne) {
  SplitMix64 random(3);
  std::int64_t confirmed = 0; // newest step whose save() returned
  int unfinished = 0; // rounds in which the kill left a temporary file
  for (int round = 0; round < 50; ++round) {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      save_for_ever(path_, ends[1]);
    }
    close(ends[1]);
    // Let it get going, then stop it anywhere within the next saves.
    ASSERT_EQ(read(ends[0], &confirmed, 8), 8) << "round " << round;
    std::this_thread::sleep_for(
        std::chrono::microseconds(random.below(20'000)));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "round " << round;
    while (read(ends[0], &confirmed, 8) == 8) {
    }
    close(ends[0]);
    for (const auto& entry : fs::directory_iterator(path_)) {
      unfinished += entry.path().extension() == ".unfinished" ? 1 : 0;
    }
    const CheckpointFolder folder(path_, 2);
    const auto latest = folder.load_latest();
    ASSERT_TRUE(latest) << "round " << round;
    EXPECT_GE(latest->step, confirmed) << "round " << round;
    EXPECT_THAT(latest->warnings, IsEmpty()) << "round " << round;
    EXPECT_TRUE(is_whole(*latest)) << "round " << round;
  }
  // Else the kills never fell into a save and the test shows nothing.
  EXPECT_GT(unfinished, 0);
}

} // namespace
} // namespace egpurun::runtime
