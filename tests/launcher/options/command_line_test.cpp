#include "launcher/options/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "topology/error.h"

namespace egpurun::launcher {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

CommandLine parse(const Words& words, unsigned version = kVersion4) {
  return parse_command_line(words, version);
}

Words program_of(const Words& words, unsigned version = kVersion4) {
  return parse(words, version).contexts[0].program;
}

std::string error_of(const Words& words, unsigned version = kVersion4) {
  try {
    parse(words, version);
  } catch (const Error& error) {
    return error.found() + " | " + error.advice();
  }
  return "";
}

TEST(CommandLine, FindsTheProgramBehindOptionsOfEveryArity) {
  EXPECT_THAT(program_of({"./a", "-np", "2"}), ElementsAre("./a", "-np", "2"));
  EXPECT_THAT(program_of({"-np", "2", "./a"}), ElementsAre("./a"));
  EXPECT_THAT(program_of({"--mca", "btl", "tcp", "a"}), ElementsAre("a"));
  EXPECT_THAT(program_of({"-mca", "-np", "--host", "a"}), ElementsAre("a"));
  EXPECT_THAT(program_of({"-oversubscribe", "a"}), ElementsAre("a"));
  EXPECT_THAT(program_of({"-report-pid", "-", "a"}), ElementsAre("a"));
  EXPECT_THAT(program_of({"-qv", "a"}), ElementsAre("a"));
  EXPECT_THAT(program_of({"-x", "A=b c", "a"}), ElementsAre("a"));
}

TEST(CommandLine, EveryOptionTakesOneOrTwoDashes) {
  for (const auto& row : option_table()) {
    for (const auto name : option_names(row)) {
      for (const std::string dashes : {"-", "--"}) {
        const unsigned version =
            (row.versions & kVersion4) != 0 ? kVersion4 : kVersion5;
        Words words{dashes + std::string(name)};
        for (int i = 0; i < row.values; ++i) {
          words.push_back("value");
        }
        if (row.values == kOptionalValue && row.role == OptionRole::kHelp) {
          words.push_back("topic");
        }
        words.push_back("program");
        EXPECT_THAT(program_of(words, version), ElementsAre("program"))
            << words[0];
      }
    }
  }
}

TEST(CommandLine, NoNameStandsTwiceForOneVersion) {
  for (const unsigned version : {kVersion4, kVersion5}) {
    std::set<std::string_view> seen;
    for (const auto& row : option_table()) {
      for (const auto name : option_names(row)) {
        if ((row.versions & version) != 0) {
          EXPECT_TRUE(seen.insert(name).second) << name;
        }
      }
    }
  }
}

TEST(CommandLine, ValuesCountByVersion) {
  EXPECT_THAT(program_of({"--display-topo", "x"}, kVersion4), ElementsAre("x"));
  EXPECT_THAT(
      program_of({"--display-topo", "h", "x"}, kVersion5), ElementsAre("x"));
}

TEST(CommandLine, EndMarkMakesAnythingAProgram) {
  const auto line = parse({"-np", "1", "--", "-np", "--host"});
  EXPECT_TRUE(line.contexts[0].has_end_mark);
  EXPECT_THAT(line.contexts[0].program, ElementsAre("-np", "--host"));
  EXPECT_THAT(
      format_words(line), ElementsAre("-np", "1", "--", "-np", "--host"));
}

TEST(CommandLine, ContextsSplitAtEveryColon) {
  const Words words{
      "-np", "1", "a", "x", ":", "-np", "2", "-x", "B", "b", "--", ":"};
  const auto line = parse(words);
  ASSERT_EQ(line.contexts.size(), 3u);
  EXPECT_THAT(line.contexts[1].program, ElementsAre("b", "--"));
  EXPECT_TRUE(line.contexts[2].program.empty());
  EXPECT_EQ(format_words(line), words);
}

TEST(CommandLine, JoinedValuesBecomeTwoWords) {
  const Words joined{"--np=2", "--mca=btl", "tcp", "a", "--b=c"};
  for (const unsigned version : {kVersion4, kVersion5}) {
    EXPECT_THAT(
        format_words(parse(joined, version)),
        ElementsAre("--np", "2", "--mca", "btl", "tcp", "a", "--b=c"));
  }
  EXPECT_THAT(error_of({"--oversubscribe=1", "a"}), HasSubstr("no value"));
}

TEST(CommandLine, OwnOptionsAreTakenOut) {
  const auto line = parse({"--egpu-dry-run", "-np", "1", "a", "--egpu-x"});
  EXPECT_TRUE(has_option(line, OptionRole::kDryRun));
  EXPECT_FALSE(has_option(line, OptionRole::kExplain));
  EXPECT_THAT(format_words(line), ElementsAre("-np", "1", "a", "--egpu-x"));
}

TEST(CommandLine, UnknownOptionNamesTheNearest) {
  EXPECT_THAT(error_of({"--mapby", "node", "a"}), HasSubstr("'--map-by'"));
  EXPECT_THAT(error_of({"--egpu-dryrun", "a"}), HasSubstr("'--egpu-dry-run'"));
  EXPECT_THAT(error_of({"--zzzzzzzzzzzz"}), HasSubstr("--help"));
}

TEST(CommandLine, OptionsOfOtherLaunchersNameOpenMpisForm) {
  EXPECT_THAT(error_of({"-ppn", "2", "a"}), HasSubstr("-N "));
  EXPECT_THAT(error_of({"-genv", "A", "b"}), HasSubstr("-x NAME=VALUE"));
  EXPECT_THAT(error_of({"-f", "hosts"}), HasSubstr("--hostfile"));
  EXPECT_THAT(error_of({"-hosts", "a,b"}), HasSubstr("--host HOST"));
  EXPECT_THAT(error_of({"--nnodes=2", "a"}), HasSubstr("torchrun"));
}

TEST(CommandLine, MissingValueAndWrongVersionAreErrors) {
  EXPECT_THAT(error_of({"--mca", "a"}), HasSubstr("needs 2 values"));
  EXPECT_THAT(error_of({"-np"}), HasSubstr("needs 1 value: N"));
  EXPECT_THAT(error_of({"--display", "map", "a"}), HasSubstr("Open MPI 5"));
  EXPECT_EQ(error_of({"--display", "map", "a"}, kVersion5), "");
}

TEST(CommandLine, LastParameterValueCounts) {
  const auto line = parse({"--mca", "a", "1", "x", ":", "-mca", "a", "2", "y"});
  EXPECT_EQ(parameter_value(line, "a"), "2");
  EXPECT_EQ(parameter_value(line, "b"), "");
}

TEST(CommandLine, NoWordsAreOneEmptyContext) {
  const auto line = parse({});
  ASSERT_EQ(line.contexts.size(), 1u);
  EXPECT_TRUE(format_words(line).empty());
  EXPECT_THAT(program_of({"-"}), ElementsAre("-"));
  EXPECT_THAT(program_of({""}), ElementsAre(""));
}

} // namespace
} // namespace egpurun::launcher
