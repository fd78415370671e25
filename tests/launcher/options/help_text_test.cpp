#include "launcher/options/help_text.h"

#include <gtest/gtest.h>

#include <sstream>

#include "launcher/options/option_table.h"

namespace egpurun::launcher {
namespace {

TEST(HelpText, NamesEveryOption) {
  const std::string help = format_help();
  for (const auto& row : option_table()) {
    for (const auto name : option_names(row)) {
      EXPECT_NE(help.find(dashed(name)), std::string::npos) << name;
    }
  }
}

TEST(HelpText, OwnOptionsComeFirst) {
  const std::string help = format_help();
  EXPECT_LT(help.find("--egpu-dry-run"), help.find("--np"));
}

} // namespace
} // namespace egpurun::launcher
