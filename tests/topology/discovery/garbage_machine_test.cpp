#include <gtest/gtest.h>

#include <random>

#include "tests/topology/scratch_machine.h"
#include "topology/discovery/discover.h"
#include "topology/error.h"
#include "topology/views/host_json.h"
#include "topology/views/host_text.h"

namespace egpurun::topology {
namespace {

std::vector<std::filesystem::path> files_below(
    const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && !entry.is_symlink()) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string garbage(std::mt19937& random) {
  const std::vector<std::string> nasty{
      "",
      "0x",
      "-1",
      "255",
      "99999999999999999999999",
      "0xffffffffffffffff",
      "nan GT/s",
      "1e308 GT/s PCIe",
      "Unknown",
      "0x0 0xffffffffffffffff 0x2200\n",
      "\033]0;x\a",
      std::string("\0\0", 2),
      "DEVTYPE=",
      "processor\ncore id",
      "MemTotal: 18446744073709551615 kB",
      std::string(70000, '9')};
  std::uniform_int_distribution<std::size_t> choice(0, nasty.size());
  const auto index = choice(random);
  if (index < nasty.size()) {
    return nasty[index];
  }
  std::string bytes(40, ' ');
  for (auto& byte : bytes) {
    byte = static_cast<char>(random() & 0xff);
  }
  return bytes;
}

// Discovery of any tree either works or says what is wrong; what it finds can
// be shown, saved and read again.
void expect_usable(const std::filesystem::path& machine) {
  const auto topology = discover_host(machine);
  const auto json = to_json(topology);
  EXPECT_EQ(to_json(from_json(json, "garbage")), json);
  const auto text = to_text(topology, false);
  EXPECT_EQ(text.find('\033'), std::string::npos);
}

class GarbageMachineTest : public testing::TestWithParam<const char*> {};

TEST_P(GarbageMachineTest, AnyAttributeMayBeGarbage) {
  ScratchMachine machine;
  machine.copy_from(recorded_machine(GetParam()));
  std::mt19937 random(7);
  auto files = files_below(machine.folder());
  std::shuffle(files.begin(), files.end(), random);
  int count = 0;
  for (const auto& file : files) {
    if (file.extension() != ".json") {
      std::ofstream(file, std::ios::binary) << garbage(random);
      // The damage adds up: every tenth state is looked at.
      if (++count % 10 == 0) {
        ASSERT_NO_THROW(expect_usable(machine.folder())) << file;
      }
    }
  }
  EXPECT_GT(count, 50);
}

TEST_P(GarbageMachineTest, AnyFileMayBeMissing) {
  ScratchMachine machine;
  machine.copy_from(recorded_machine(GetParam()));
  std::mt19937 random(11);
  auto files = files_below(machine.folder());
  std::shuffle(files.begin(), files.end(), random);
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::filesystem::remove(files[i]);
    if (i % 10 == 0 && std::filesystem::exists(machine.folder() / "sys")) {
      ASSERT_NO_THROW(expect_usable(machine.folder())) << files[i];
    }
  }
}

TEST_P(GarbageMachineTest, DamagedJsonIsAnErrorOrUsable) {
  const auto json = to_json(discover_host(recorded_machine(GetParam())));
  std::mt19937 random(13);
  int rejected = 0;
  for (int round = 0; round < 1000; ++round) {
    auto damaged = json;
    for (int i = 0; i <= round % 3; ++i) {
      damaged[random() % damaged.size()] = static_cast<char>(random() & 0xff);
    }
    if (round % 5 == 0) {
      damaged.resize(random() % damaged.size());
    }
    try {
      to_text(from_json(damaged, "damaged"), false);
    } catch (const Error& error) {
      EXPECT_FALSE(error.found().empty());
      ++rejected;
    }
  }
  EXPECT_GT(rejected, 100);
}

INSTANTIATE_TEST_SUITE_P(
    Machines,
    GarbageMachineTest,
    testing::Values("tb4_rtx5090", "one_link_two_gpus"),
    [](const auto& info) { return std::string(info.param); });

TEST(GarbageMachineTest, DeepJsonIsAnError) {
  EXPECT_THROW(from_json(std::string(100000, '['), "deep"), Error);
}

TEST(GarbageMachineTest, WrongSideFilesNameThemselves) {
  for (const char* name : {"nvml.json", "measured.json", "errors.json"}) {
    for (const char* text : {"", "{", "[3]", "7", R"({"x": 1})"}) {
      ScratchMachine machine;
      machine.write(name, text);
      try {
        discover_host(machine.folder());
        ADD_FAILURE() << name << " " << text;
      } catch (const Error& error) {
        EXPECT_NE(error.place().path.find(name), std::string::npos);
        EXPECT_EQ(error.exit_status(), 2);
      }
    }
  }
}

} // namespace
} // namespace egpurun::topology
