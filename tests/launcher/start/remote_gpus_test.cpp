#include "launcher/start/remote_gpus.h"

#include <gtest/gtest.h>

namespace egpurun::launcher {
namespace {

using Outputs = std::map<int, std::string>;

TEST(RemoteGpus, SplitsTaggedOutput) {
  EXPECT_EQ(
      split_tagged_output("a warning\n"
                          "[1,0]<stdout>:{\n[1,1]<stdout>:{ \"a\": [1,2]\n"
                          "[1,0]<stdout>: \"b[1,0]<stdout>:c\"[1,0]<stdout>:\n"
                          "[1,1]<stdout>:}\n[1,0]<stdout>:}\n"),
      (Outputs{{0, "{\n \"bc\"\n}\n"}, {1, "{ \"a\": [1,2]\n}\n"}}));
}

TEST(RemoteGpus, OtherTextIsNobodys) {
  EXPECT_EQ(split_tagged_output(""), Outputs{});
  EXPECT_EQ(
      split_tagged_output("[1,0]<stderr>:x\n[1,x]<stdout>:\n[1,99999999]"),
      Outputs{});
}

} // namespace
} // namespace egpurun::launcher
