#include "jobs/spec/job_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <set>

#include "jobs/spec/job_checks.h"
#include "jobs/spec/job_keys.h"
#include "topology/error.h"

namespace egpurun::jobs {
namespace {

// Place, found and advice of the error, or "" if the text is good.
std::string complaint(std::string_view text) {
  try {
    parse_job_text(text, "job.toml");
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    EXPECT_EQ(error.asked(), "cannot read job file");
    return topology::format_place(error.place()) + " | " + error.found() +
        " | " + error.advice();
  }
}

TEST(JobFile, EmptyTextGivesDefaults) {
  EXPECT_EQ(parse_job_text("", "job.toml"), JobSpec{});
}

TEST(JobFile, ReadsEveryType) {
  const JobSpec spec = parse_job_text(
      "[hosts]\nlist = [\"pc1\", \"pc2:2\"]\n[data]\nshuffle = false\n"
      "[train]\nepochs = 7\nlearning_rate = 1\nweight_decay = 5e-4\n"
      "optimizer = 'adamw'\n",
      "job.toml");
  EXPECT_THAT(spec.hosts.list, testing::ElementsAre("pc1", "pc2:2"));
  EXPECT_FALSE(spec.data.shuffle);
  EXPECT_EQ(spec.train.epochs, 7);
  EXPECT_EQ(spec.train.learning_rate, 1.0);
  EXPECT_EQ(spec.train.weight_decay, 5e-4);
  EXPECT_EQ(spec.train.optimizer, "adamw");
}

TEST(JobFile, DefaultTextIsTheDefaults) {
  const std::string text = default_job_text();
  EXPECT_EQ(parse_job_text(text, "defaults"), JobSpec{});
  for (const JobKey& key : job_keys()) {
    EXPECT_THAT(text, testing::HasSubstr(std::string(key.description)));
    EXPECT_THAT(text, testing::HasSubstr("\n" + std::string(key.name) + " = "));
  }
}

TEST(JobFile, EveryKeyHasItsOwnMemberAndSection) {
  JobSpec spec;
  std::set<const void*> members;
  for (const JobKey& key : job_keys()) {
    std::visit(
        [&](auto* member) { members.insert(static_cast<const void*>(member)); },
        key.member(spec));
    EXPECT_THAT(section_names(), testing::Contains(key.section)) << key.name;
  }
  EXPECT_EQ(members.size(), job_keys().size());
}

TEST(JobFile, RoundTripKeepsTextsAndDoubles) {
  JobSpec spec;
  spec.job.name =
      "a \"quoted\" \\ name\twith\n\x7f control and Grüße 你好 🙂";
  spec.job.seed = std::numeric_limits<std::int64_t>::max();
  spec.hosts.list = {"pc-1.office", "192.168.0.2:4"};
  spec.hosts.network = "10.1.0.0/16,eth0";
  spec.model.dropout = std::nextafter(1.0, 0.0);
  spec.train.learning_rate = 0.1 + 0.2;
  spec.train.epsilon = std::numeric_limits<double>::denorm_min();
  spec.train.weight_decay = 1e300;
  spec.train.momentum = 0;
  spec.data.shuffle = false;
  spec.checkpoint.folder = "relative/with space";
  EXPECT_EQ(parse_job_text(format_job_text(spec), "job.toml"), spec);
}

TEST(JobFile, RoundTripKeepsAnyDouble) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 300; ++i) {
    JobSpec spec;
    spec.train.learning_rate = std::ldexp(
        std::uniform_real_distribution(0.5, 1.0)(random),
        std::uniform_int_distribution(-1000, 1000)(random));
    ASSERT_EQ(parse_job_text(format_job_text(spec), "job.toml"), spec)
        << format_job_text(spec);
  }
}

TEST(JobFile, ReadsTheExamples) {
  int examples = 0;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::string(EGPU_SOURCE_DIR) + "/jobs/examples")) {
    if (entry.path().extension() == ".toml") {
      EXPECT_NO_THROW(parse_job_file(entry.path())) << entry.path();
      ++examples;
    }
  }
  EXPECT_GE(examples, 3);
}

TEST(JobFile, RefusesWhatIsNoFile) {
  EXPECT_THROW(parse_job_file("/nowhere/job.toml"), Error);
  EXPECT_THROW(parse_job_file("/"), Error);
  EXPECT_THROW(parse_job_file("/dev/zero"), Error);
}

TEST(JobFile, ReadsTextUpToItsLastByte) {
  const auto path =
      std::filesystem::path(testing::TempDir()) / "job_file_test.toml";
  std::ofstream(path) << "[train]\nepochs = 12";
  EXPECT_EQ(parse_job_file(path).train.epochs, 12);
  std::filesystem::remove(path);
}

struct BadFile {
  const char* text;
  const char* complaint;
};

class BadJobFile : public testing::TestWithParam<BadFile> {};

TEST_P(BadJobFile, SaysWhereWhatAndWhatToDo) {
  EXPECT_EQ(complaint(GetParam().text), GetParam().complaint);
}

const BadFile kBadFiles[] = {
#include "tests/jobs/spec/bad_job_files.inc"
};
INSTANTIATE_TEST_SUITE_P(Golden, BadJobFile, testing::ValuesIn(kBadFiles));

TEST(JobFile, RefusesNamesOfVeryManyParts) {
  std::string name = "a";
  for (int i = 0; i < 100000; ++i) {
    name += ".a";
  }
  const std::string expected =
      "job.toml:2:1 | a name of too many dotted parts | write a section as "
      "[name] and a key as name = value";
  EXPECT_EQ(complaint("\n[" + name + "]\n"), expected);
  EXPECT_EQ(complaint("\n" + name + " = 1\n"), expected);
  EXPECT_EQ(complaint("\nx = {" + name + " = 1}\n"), expected);
}

TEST(JobFile, TextsAndCommentsMayHoldManyDots) {
  const std::string dots(1000, '.');
  EXPECT_EQ(
      complaint(
          "[job]\nname = \"\\\"" + dots + "\" # " + dots +
          "\n[data]\nfolder = '" + dots + "'\n"),
      "");
}

TEST(JobFile, SurvivesEveryCutAndFlippedByte) {
  const std::string good = default_job_text();
  for (std::size_t i = 0; i < good.size(); i += 3) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x55);
    complaint(bad);
    complaint(std::string_view(good).substr(0, i));
  }
  EXPECT_EQ(complaint(good), "");
}

TEST(JobChecks, RefusesSpecsThatNoFileMade) {
  JobSpec spec;
  EXPECT_NO_THROW(require_valid(spec));
  spec.train.learning_rate = std::nan("");
  EXPECT_THROW(require_valid(spec), Error);
  spec = {};
  spec.job.name = std::string("a\0b", 3);
  EXPECT_THROW(require_valid(spec), Error);
}

} // namespace
} // namespace egpurun::jobs
