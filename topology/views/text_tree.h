#pragma once

#include <string>
#include <vector>

namespace egpurun::topology {

enum class TextColour {
  kNone,
  kGood,
  kWarning,
  kTitle
};

// A line and the lines below it.
struct TextNode {
  std::string label;
  std::vector<TextNode> children;
  TextColour colour = TextColour::kNone;

  TextNode& add(std::string text, TextColour text_colour = TextColour::kNone);
};

// Lines with UTF-8 box drawing, a final newline, no trailing blanks. Labels are
// made printable, so foreign names cannot command a terminal.
std::string render_tree(const TextNode& root, bool use_colour);

} // namespace egpurun::topology
