#include "topology/sysfs/sysfs_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>

#include "tests/topology/scratch_machine.h"
#include "topology/error.h"
#include "topology/sysfs/errno_name.h"
#include "topology/sysfs/number_text.h"

namespace egpurun::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(SysfsTreeTest, ReadsAttributesWithoutTrailingBlanks) {
  ScratchMachine machine;
  machine.write("sys/a/speed", "2.5 GT/s PCIe \n\n");
  const SysfsTree tree(machine.folder());
  EXPECT_EQ(tree.read_text("sys/a/speed").value(), "2.5 GT/s PCIe");
  EXPECT_FALSE(tree.is_live());
}

TEST(SysfsTreeTest, FailedReadsKeepTheirErrno) {
  ScratchMachine machine;
  machine.write("sys/a/speed", "1");
  machine.link("sys/loop", "sys/loop");
  const SysfsTree tree(machine.folder());
  EXPECT_EQ(tree.read_text("sys/a/none").errno_value(), ENOENT);
  EXPECT_EQ(tree.read_text("sys/a").errno_value(), EISDIR);
  EXPECT_EQ(tree.read_text("sys/loop").errno_value(), ELOOP);
  EXPECT_EQ(tree.read_text("sys/a/speed/x").errno_value(), ENOTDIR);
  EXPECT_EQ(tree.list("sys/none").errno_value(), ENOENT);
  EXPECT_EQ(tree.read_link("sys/a/speed").errno_value(), EINVAL);
  EXPECT_EQ(tree.read_text("sys/a/speed").errno_value(), 0);
}

TEST(SysfsTreeTest, HonoursRecordedErrorsThroughLinks) {
  ScratchMachine machine;
  machine.write("sys/devices/card/speed", "1");
  machine.write("sys/devices/card/key", "secret");
  machine.link("sys/bus/card", "sys/devices/card");
  machine.write(
      "errors.json",
      R"({"sys/bus/card/speed": "EINVAL", "/sys/devices/card/key": "EACCES",
          "sys/devices/card/gone": "ENODATA"})");
  const SysfsTree tree(machine.folder());
  for (const std::string folder : {"sys/bus/card", "sys/devices/card"}) {
    EXPECT_EQ(tree.read_text(folder + "/speed").errno_value(), EINVAL);
    EXPECT_EQ(tree.read_text(folder + "/key").errno_value(), EACCES);
    EXPECT_EQ(tree.read_text(folder + "/gone").errno_value(), ENODATA);
  }
}

TEST(SysfsTreeTest, WrongErrorsFileIsAUserError) {
  for (const char* text :
       {"{", "[1]", R"({"a": "ENONSENSE"})", R"({"a": 5})"}) {
    ScratchMachine machine;
    machine.write("errors.json", text);
    EXPECT_THROW(SysfsTree(machine.folder()), Error) << text;
  }
}

TEST(SysfsTreeTest, NeverLeavesTheRoot) {
  ScratchMachine outside;
  outside.write("secret", "outside");
  ScratchMachine machine;
  std::filesystem::create_symlink(
      outside.folder() / "secret", machine.folder() / "sys/absolute");
  std::filesystem::create_directory_symlink(
      outside.folder(), machine.folder() / "sys/folder");
  const SysfsTree tree(machine.folder());
  EXPECT_EQ(tree.read_text("sys/absolute").errno_value(), EXDEV);
  EXPECT_EQ(tree.read_text("sys/folder/secret").errno_value(), EXDEV);
  EXPECT_EQ(tree.list("sys/folder").errno_value(), EXDEV);
  EXPECT_EQ(
      tree.read_text("../" + outside.folder().filename().string() + "/secret")
          .errno_value(),
      EXDEV);
}

TEST(SysfsTreeTest, PipesDoNotBlock) {
  ScratchMachine machine;
  ASSERT_EQ(::mkfifo((machine.folder() / "sys/pipe").c_str(), 0600), 0);
  EXPECT_EQ(
      SysfsTree(machine.folder()).read_text("sys/pipe").errno_value(), EINVAL);
}

TEST(SysfsTreeTest, HugeAndBinaryFilesAreCutAndMadePrintable) {
  ScratchMachine machine;
  machine.write("sys/huge", std::string(1 << 20, 'x'));
  machine.write("sys/binary", std::string("\x01\xff ok\0z", 7));
  const SysfsTree tree(machine.folder());
  EXPECT_LE(tree.read_text("sys/huge").value().size(), std::size_t{1} << 17);
  EXPECT_EQ(tree.read_text("sys/binary").value(), "?? ok?z");
}

TEST(SysfsTreeTest, ListsSortedNamesAndResolvesLinks) {
  ScratchMachine machine;
  machine.write("sys/devices/b/x", "");
  machine.write("sys/devices/a/x", "");
  machine.link("sys/bus/a", "sys/devices/a");
  const SysfsTree tree(machine.folder());
  EXPECT_THAT(tree.list("sys/devices").value(), ElementsAre("a", "b"));
  EXPECT_EQ(tree.resolve("sys/bus/a").value(), "sys/devices/a");
  EXPECT_EQ(tree.resolve("/sys/bus/a/").value(), "sys/devices/a");
  EXPECT_EQ(last_name(tree.read_link("sys/bus/a").value()), "a");
}

TEST(SysfsTreeTest, MissingRootSaysWhatToDo) {
  try {
    SysfsTree tree("/nonexistent/machine");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_status(), 2);
    EXPECT_THAT(error.asked(), HasSubstr("/nonexistent/machine"));
    EXPECT_FALSE(error.advice().empty());
  }
}

TEST(ErrnoNameTest, GoesBothWays) {
  for (const int value : {EINVAL, EACCES, ENODATA, EKEYREJECTED, EHWPOISON}) {
    EXPECT_EQ(errno_from_name(errno_name(value)), value);
  }
  EXPECT_FALSE(errno_from_name("EWHATEVER"));
  EXPECT_EQ(errno_name(4711), "errno 4711");
}

TEST(NumberTextTest, WantsTheWholeText) {
  EXPECT_EQ(parse_integer("-1"), -1);
  EXPECT_FALSE(parse_integer("1 "));
  EXPECT_EQ(parse_unsigned("0x10de"), 0x10deu);
  EXPECT_FALSE(parse_unsigned("0x"));
  EXPECT_FALSE(parse_unsigned("99999999999999999999"));
}

TEST(NumberTextTest, QuantitiesNeedTheirUnit) {
  EXPECT_EQ(parse_quantity("20.0 Gb/s", "Gb/s"), 20);
  EXPECT_EQ(parse_quantity("20 Gb/s", "Gb/s"), 20);
  EXPECT_EQ(parse_quantity("16.0 GT/s PCIe", "GT/s"), 16);
  for (const char* text :
       {"",
        "20",
        "Unknown",
        "nan Gb/s",
        "inf Gb/s",
        "-5 Gb/s",
        "0 Gb/s",
        "20 MB/s"}) {
    EXPECT_FALSE(parse_quantity(text, "Gb/s")) << text;
  }
}

} // namespace
} // namespace egpurun::topology
