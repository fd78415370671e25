#include "jobs/spec/toml_text.h"

#include <fmt/format.h>

namespace egpurun::jobs {

std::string toml_text(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      quoted += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string toml_number(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".einf") == std::string::npos) {
    text += ".0";
  }
  return text;
}

int line_of_deep_name(std::string_view toml, int most) {
  int line = 1;
  int dots = 0;
  char quote = 0; // that closes the text we are in; '#' = a comment
  for (std::size_t i = 0; i < toml.size(); ++i) {
    const char c = toml[i];
    if (c == '\n') {
      ++line;
      dots = 0;
      quote = 0;
    } else if (
        quote == '"' && c == '\\' && !toml.substr(i).starts_with("\\\n")) {
      ++i;
    } else if (quote != 0) {
      quote = c == quote && c != '#' ? '\0' : quote;
    } else if (c == '"' || c == '\'' || c == '#') {
      quote = c;
    } else if (c == '.' && ++dots > most) {
      return line;
    }
  }
  return 0;
}

} // namespace egpurun::jobs
