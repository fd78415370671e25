#include "launcher/start/shell_words.h"

namespace egpurun::launcher {

namespace {

constexpr const char* kPlainCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    "_@%+=:,./-";

std::string quote(const std::string& word) {
  if (!word.empty() &&
      word.find_first_not_of(kPlainCharacters) == std::string::npos) {
    return word;
  }
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  quoted += "'";
  return quoted;
}

} // namespace

std::string quote_for_shell(const Words& words) {
  std::string line;
  for (const auto& word : words) {
    if (!line.empty()) {
      line += ' ';
    }
    line += quote(word);
  }
  return line;
}

} // namespace egpurun::launcher
