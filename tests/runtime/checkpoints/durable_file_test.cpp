#include "runtime/checkpoints/durable_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

namespace egpurun::runtime {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr std::size_t kLargeBytes = std::size_t{4}
    << 20; // over the limits here

// Runs `body` in a child process and returns its exit status, 128 + n if
// signal n ended it.
int in_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string read_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Durable : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = fs::temp_directory_path() / "egpu-durable-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    path_ = folder_ / "file";
    temporary_ = folder_ / "file.unfinished";
  }
  void TearDown() override {
    fs::remove_all(folder_);
  }

  void write_file(const std::string& content) const {
    DurableFile file(path_, temporary_);
    file.write(content.data(), content.size());
    file.publish();
  }

  // 0 if writing a large file fails with an Error that holds `expected` and
  // names the file, and only the old file with "old" in it is left.
  int large_write_fails_with(const std::string& expected) const {
    try {
      write_file(std::string(kLargeBytes, 'x'));
    } catch (const Error& error) {
      const bool said = error.found().find(expected) != std::string::npos &&
          error.kind() == ErrorKind::kEnvironment &&
          error.place().path == path_.string();
      return said && read_bytes(path_) == "old" && !fs::exists(temporary_) ? 0
                                                                           : 2;
    }
    return 1;
  }

  fs::path folder_;
  fs::path path_;
  fs::path temporary_;
};

TEST_F(Durable, AppearsUnderItsNameOnlyWhenPublished) {
  DurableFile file(path_, temporary_);
  file.write("one", 3);
  file.write(nullptr, 0);
  file.write("two", 3);
  EXPECT_FALSE(fs::exists(path_));
  const std::string all = "onetwo";
  EXPECT_EQ(
      file.crc32(),
      crc32_z(0, reinterpret_cast<const Bytef*>(all.data()), all.size()));
  file.publish();
  EXPECT_EQ(read_bytes(path_), all);
  EXPECT_FALSE(fs::exists(temporary_));
}

TEST_F(Durable, LeavesNothingBehindUnlessPublished) {
  write_file("old");
  {
    DurableFile file(path_, temporary_);
    file.write("new", 3);
  }
  EXPECT_EQ(read_bytes(path_), "old");
  EXPECT_FALSE(fs::exists(temporary_));
}

TEST_F(Durable, MissingFolderIsAnError) {
  try {
    DurableFile(folder_ / "no" / "x", folder_ / "no" / "y");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_THAT(error.found(), HasSubstr("No such file"));
  }
}

TEST_F(Durable, FailedRenameRemovesTheTemporaryFile) {
  fs::create_directories(path_ / "in the way");
  EXPECT_THROW(write_file("new"), Error);
  EXPECT_FALSE(fs::exists(temporary_));
}

TEST_F(Durable, FileSizeLimitIsAnErrorAndNotDeath) {
  write_file("old");
  const int status = in_child([this] {
    const rlimit limit{1 << 20, 1 << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    const int result = large_write_fails_with("File too large");
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, SIGXFSZ) ? 3 : result;
  });
  EXPECT_EQ(status, 0);
}

TEST_F(Durable, FullDiskIsAnErrorAndTheOldFileStays) {
  constexpr int kNoMount = 77;
  const int status = in_child([this] {
    // The mount lives and dies with this process's own mount namespace.
    if (unshare(CLONE_NEWNS) != 0 ||
        mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", folder_.c_str(), "tmpfs", 0, "size=1m") != 0) {
      return kNoMount;
    }
    write_file("old");
    return large_write_fails_with("No space left");
  });
  if (status == kNoMount) {
    GTEST_SKIP() << "cannot mount a small tmpfs in an own mount namespace";
  }
  EXPECT_EQ(status, 0);
}

} // namespace
} // namespace egpurun::runtime
