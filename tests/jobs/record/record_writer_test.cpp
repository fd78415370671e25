#include "jobs/record/record_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "jobs/record/record_json.h"
#include "topology/error.h"

namespace egpurun::jobs {
namespace {

namespace fs = std::filesystem;

class RecordWriterTest : public testing::Test {
 protected:
  RecordWriterTest()
      : folder_(
            fs::path(testing::TempDir()) /
            ("record_writer_test-" + std::to_string(::getpid()))) {}
  ~RecordWriterTest() override {
    fs::remove_all(folder_);
  }

  static RunRecord run_of(int rank, std::int64_t first_step = 0) {
    RunRecord run;
    run.rank = rank;
    run.first_step = first_step;
    return run;
  }
  static StepRecord step_of(std::int64_t number) {
    StepRecord step;
    step.step = number;
    return step;
  }
  std::string text_of(int rank) const {
    std::ifstream file(record_path(folder_, rank), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const fs::path folder_;
};

TEST_F(RecordWriterTest, WritesWhatTheFolderReads) {
  for (const int rank : {2, 0, 1}) {
    RecordWriter writer(folder_, rank);
    writer.write(run_of(rank));
    writer.write(step_of(0));
    writer.write(EvaluationRecord{});
  }
  std::ofstream(folder_ / "notes.txt") << "not a record";
  const auto ranks = read_run_folder(folder_);
  ASSERT_EQ(ranks.size(), 3u);
  for (int rank = 0; rank < 3; ++rank) {
    const RankRecords& records = ranks[static_cast<std::size_t>(rank)];
    EXPECT_EQ(records.runs.front().rank, rank);
    EXPECT_EQ(records.steps.size(), 1u);
    EXPECT_EQ(records.evaluations.size(), 1u);
  }
}

TEST_F(RecordWriterTest, CutsHalfALineOfAnEarlierKill) {
  const std::string run = to_json_line(run_of(0)) + "\n";
  // Halves longer and shorter than a block of the backward search.
  for (const std::size_t half : {1u, 100u, 4095u, 4096u, 4097u, 20000u}) {
    fs::create_directories(folder_);
    std::ofstream(record_path(folder_, 0)) << run << std::string(half, '{');
    RecordWriter(folder_, 0).write(run_of(0, 1));
    EXPECT_EQ(text_of(0), run + to_json_line(run_of(0, 1)) + "\n") << half;
  }
  std::ofstream(record_path(folder_, 0)) << "{\"type\"";
  RecordWriter(folder_, 0).write(run_of(0));
  EXPECT_EQ(text_of(0), run);
}

// A file size limit fails in the middle of a line, as a full disk does.
TEST_F(RecordWriterTest, FullDiskIsAnErrorAndLeavesWholeLines) {
  RecordWriter writer(folder_, 0);
  writer.write(run_of(0));
  const std::string before = text_of(0);
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  rlimit tight = old;
  tight.rlim_cur = before.size() + 20;
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
  std::string found;
  try {
    writer.write(step_of(0));
  } catch (const Error& error) {
    found = error.found();
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_EQ(error.place().path, record_path(folder_, 0).string());
  }
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(found, "File too large");
  EXPECT_EQ(text_of(0), before);
}

TEST_F(RecordWriterTest, UnusableFolderIsAnError) {
  std::ofstream(folder_) << "a file where the folder should be";
  EXPECT_THROW(RecordWriter(folder_, 0), Error);
}

TEST_F(RecordWriterTest, FolderWithoutRecordsIsAnError) {
  EXPECT_THROW(read_run_folder(folder_), Error);
  fs::create_directories(folder_);
  EXPECT_THROW(read_run_folder(folder_), Error);
  std::ofstream(record_path(folder_, 0)) << "";
  EXPECT_THROW(read_run_folder(folder_), Error);
}

TEST_F(RecordWriterTest, FileOfAnotherRankIsAnError) {
  RecordWriter(folder_, 0).write(run_of(1));
  EXPECT_THROW(read_run_folder(folder_), Error);
}

TEST_F(RecordWriterTest, RankWithoutAnyLineIsSkipped) {
  RecordWriter(folder_, 0).write(run_of(0));
  std::ofstream(record_path(folder_, 1)) << "{\"ty";
  EXPECT_EQ(read_run_folder(folder_).size(), 1u);
}

} // namespace
} // namespace egpurun::jobs
