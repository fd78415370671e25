#include "launcher/start/shell_words.h"

#include <gtest/gtest.h>

#include "launcher/start/program_output.h"

namespace egpurun::launcher {
namespace {

TEST(ShellWords, PlainWordsStayPlain) {
  EXPECT_EQ(quote_for_shell({"mpirun", "-np", "2", "a=b"}), "mpirun -np 2 a=b");
}

TEST(ShellWords, OthersAreQuoted) {
  EXPECT_EQ(quote_for_shell({"", "a b", "it's"}), "'' 'a b' 'it'\\''s'");
}

TEST(ShellWords, AShellReadsBackTheSameWords) {
  const Words words{"", "a b", "it's", "$(x)", "`y`", "\\", "\"", "a\nb", "*"};
  const std::string script =
      "for w in " + quote_for_shell(words) + "; do printf '%s|' \"$w\"; done";
  std::string expected;
  for (const auto& word : words) {
    expected += word + "|";
  }
  const auto output = read_program_output(
      {"/bin/sh", "-c", script}, Seconds{20}, StandardError::kDropped);
  ASSERT_TRUE(output);
  EXPECT_EQ(output->text, expected);
}

} // namespace
} // namespace egpurun::launcher
