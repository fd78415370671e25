#include "launcher/hosts/host_list.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>

namespace egpurun::launcher {

namespace {

// 0 for anything that is no number, as "*" and "auto".
int parse_slots(std::string_view text) {
  int slots = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), slots);
  const bool whole = end == text.data() + text.size();
  return error == std::errc() && whole && slots > 0 ? slots : 0;
}

std::string without_comments(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size();) {
    const auto rest = text.substr(i);
    if (rest.starts_with("/*")) {
      const auto end = rest.find("*/", 2);
      i = end == rest.npos ? text.size() : i + end + 2;
    } else if (rest.starts_with("#") || rest.starts_with("//")) {
      i = std::min(text.size(), text.find('\n', i));
    } else {
      plain += text[i++];
    }
  }
  return plain;
}

// "slots = 2" and "slots=2" become the words "slots", "=", "2".
std::string with_free_equals(std::string_view line) {
  std::string spaced;
  for (const char c : line) {
    spaced += c == '=' ? std::string(" = ") : std::string(1, c);
  }
  return spaced;
}

bool is_slot_word(const std::string& word) {
  return word == "slots" || word == "cpu" || word == "count";
}

void add_line(std::vector<ListedHost>& hosts, const std::string& line) {
  std::istringstream words(with_free_equals(line));
  ListedHost host;
  std::string word;
  if (!(words >> word)) {
    return;
  }
  host.name = word.substr(word.find('@') + 1);
  while (words >> word) {
    std::string equals;
    std::string value;
    if (is_slot_word(word) && words >> equals >> value && equals == "=") {
      host.slots = parse_slots(value);
    }
  }
  add_host(hosts, host);
}

} // namespace

void add_host(std::vector<ListedHost>& hosts, const ListedHost& host) {
  const auto known = std::ranges::find(hosts, host.name, &ListedHost::name);
  if (known == hosts.end()) {
    hosts.push_back(host);
  } else if (known->slots > 0 && host.slots > 0) {
    known->slots += host.slots;
  }
}

std::vector<ListedHost> parse_host_option(std::string_view value) {
  std::vector<ListedHost> hosts;
  while (!value.empty()) {
    const auto comma = std::min(value.size(), value.find(','));
    const auto entry = value.substr(0, comma);
    value.remove_prefix(std::min(value.size(), comma + 1));
    if (entry.empty() || entry[0] == '+') {
      continue;
    }
    const auto colon = entry.find(':');
    ListedHost host{std::string(entry.substr(0, colon)), 1};
    if (colon != entry.npos) {
      host.slots = parse_slots(entry.substr(colon + 1));
    }
    add_host(hosts, host);
  }
  return hosts;
}

std::vector<ListedHost> parse_hostfile(std::string_view text) {
  std::vector<ListedHost> hosts;
  std::istringstream lines(without_comments(text));
  std::string line;
  while (std::getline(lines, line)) {
    add_line(hosts, line);
  }
  return hosts;
}

std::vector<ListedHost> read_hostfile(const std::string& path) {
  std::ifstream file(path);
  const std::string text{
      std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return parse_hostfile(text);
}

} // namespace egpurun::launcher
