#include "topology/printable_text.h"

#include <gtest/gtest.h>

namespace egpurun::topology {
namespace {

TEST(PrintableTextTest, KeepsTextAndUtf8) {
  EXPECT_EQ(printable_text("a b\tc\nd"), "a b\tc\nd");
  EXPECT_EQ(printable_text("Gehäuse ├─ 箱 😀"), "Gehäuse ├─ 箱 😀");
  EXPECT_EQ(printable_text(""), "");
}

TEST(PrintableTextTest, ReplacesTerminalCommands) {
  EXPECT_EQ(printable_text("\033[2Jbox\a\x7f"), "?[2Jbox??");
  // U+009B is an escape sequence's start in one character.
  EXPECT_EQ(printable_text("\xc2\x9b"), "??");
  EXPECT_EQ(printable_text(std::string_view("a\0b", 3)), "a?b");
}

TEST(PrintableTextTest, ReplacesInvalidUtf8) {
  EXPECT_EQ(printable_text("\xff\xfe"), "??");
  EXPECT_EQ(printable_text("\xc3"), "?"); // cut off
  EXPECT_EQ(printable_text("\xc0\xaf"), "??"); // overlong
  EXPECT_EQ(printable_text("\xed\xa0\x80"), "???"); // surrogate
  EXPECT_EQ(printable_text("\xf4\x90\x80\x80"), "????"); // above U+10FFFF
}

} // namespace
} // namespace egpurun::topology
