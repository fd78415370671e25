#include "topology/views/text_tree.h"

#include <algorithm>

#include "topology/printable_text.h"

namespace egpurun::topology {
namespace {

const char* colour_code(TextColour colour) {
  switch (colour) {
    case TextColour::kGood:
      return "\033[32m";
    case TextColour::kWarning:
      return "\033[33m";
    case TextColour::kTitle:
      return "\033[1m";
    case TextColour::kNone:
      break;
  }
  return "";
}

std::string one_line(const std::string& label) {
  auto line = printable_text(label);
  std::replace_if(
      line.begin(),
      line.end(),
      [](char c) { return c == '\n' || c == '\t'; },
      ' ');
  return line;
}

void render_node(
    const TextNode& node,
    const std::string& first_indent,
    const std::string& next_indent,
    bool use_colour,
    std::string& output) {
  const std::string code = use_colour ? colour_code(node.colour) : "";
  output += first_indent + code + one_line(node.label) +
      (code.empty() ? "" : "\033[0m") + "\n";
  for (const auto& child : node.children) {
    const bool last = &child == &node.children.back();
    render_node(
        child,
        next_indent + (last ? "└─ " : "├─ "),
        next_indent + (last ? "   " : "│  "),
        use_colour,
        output);
  }
}

} // namespace

TextNode& TextNode::add(std::string text, TextColour text_colour) {
  children.push_back({std::move(text), {}, text_colour});
  return children.back();
}

std::string render_tree(const TextNode& root, bool use_colour) {
  std::string output;
  render_node(root, "", "", use_colour, output);
  return output;
}

} // namespace egpurun::topology
