#include "topology/views/text_tree.h"

#include <gtest/gtest.h>

#include "topology/views/host_text.h"

namespace egpurun::topology {
namespace {

TEST(TextTreeTest, DrawsBranches) {
  TextNode root;
  root.label = "pc";
  auto& first = root.add("a");
  first.add("b");
  first.add("c");
  root.add("d").add("e");
  EXPECT_EQ(
      render_tree(root, false),
      "pc\n"
      "├─ a\n"
      "│  ├─ b\n"
      "│  └─ c\n"
      "└─ d\n"
      "   └─ e\n");
}

TEST(TextTreeTest, ColourOnlyWhenAsked) {
  TextNode root;
  root.label = "pc";
  root.colour = TextColour::kWarning;
  EXPECT_EQ(render_tree(root, true), "\033[33mpc\033[0m\n");
  EXPECT_EQ(render_tree(root, false), "pc\n");
}

TEST(TextTreeTest, LabelsStayOnOneLineAndCommandNothing) {
  TextNode root;
  root.label = "a\nb\033[2J";
  EXPECT_EQ(render_tree(root, false), "a b?[2J\n");
}

TEST(HostTextTest, AnEmptyTopologySaysSo) {
  const auto text = to_text({}, false);
  EXPECT_NE(text.find("no GPU"), std::string::npos);
  EXPECT_NE(text.find("NVML not probed"), std::string::npos);
  EXPECT_NE(text.find("no Thunderbolt"), std::string::npos);
}

TEST(HostTextTest, RefusedBoxesAndPeers) {
  HostTopology topology;
  topology.thunderbolt_domains.resize(1);
  ThunderboltRouter box;
  box.route = {0, 1};
  box.device_name = "Box";
  box.authorized = 0;
  topology.thunderbolt_routers = {box};
  ThunderboltPeer peer;
  peer.route = {0, 3};
  peer.device_name = "pc2";
  peer.cable = {10, 10, 1, 2};
  topology.thunderbolt_peers = {peer};
  const auto text = to_text(topology, false);
  EXPECT_NE(text.find("0-1  Box, NOT AUTHORISED"), std::string::npos) << text;
  EXPECT_NE(text.find("0-3  another PC: pc2"), std::string::npos) << text;
  EXPECT_NE(text.find("1 x 10 Gb/s in, 2 x 10 Gb/s out"), std::string::npos);
}

} // namespace
} // namespace egpurun::topology
