#include "jobs/spec/job_file.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "jobs/spec/job_checks.h"
#include "jobs/spec/job_keys.h"
#include "jobs/spec/key_advice.h"
#include "jobs/spec/toml_text.h"
#include "topology/error.h"

namespace egpurun::jobs {

namespace {

constexpr char kAsked[] = "cannot read job file";

struct FileProblem {
  toml::source_position at;
  std::string found;
  std::string advice;
};

// What was read so far of one job file.
struct Reading {
  JobSpec spec;
  std::map<std::string, toml::source_position> positions; // "section.key"
  std::vector<FileProblem> problems;

  void refuse(
      const toml::source_region& at,
      std::string found,
      std::string advice) {
    problems.push_back({at.begin, std::move(found), std::move(advice)});
  }
};

std::string node_text(const toml::node& node);

std::string list_text(const toml::array& list) {
  if (list.is_array_of_tables()) {
    return "an array of tables";
  }
  for (const toml::node& element : list) {
    if (!element.is_string()) {
      return "a list with " + node_text(element) + " in it";
    }
  }
  return "a list";
}

std::string node_text(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::string:
      return fmt::format("the text \"{}\"", node.ref<std::string>());
    case toml::node_type::integer:
      return fmt::format("the whole number {}", node.ref<std::int64_t>());
    case toml::node_type::floating_point:
      return "the number " + toml_number(node.ref<double>());
    case toml::node_type::boolean:
      return node.ref<bool>() ? "true" : "false";
    case toml::node_type::array:
      return list_text(*node.as_array());
    case toml::node_type::table:
      return "a table";
    default:
      return "a date or time";
  }
}

void refuse_section(
    Reading& reading,
    const toml::key& key,
    const toml::node& node) {
  const std::string_view name = key.str();
  if (node.is_table()) {
    reading.refuse(
        key.source(),
        fmt::format("unknown section '{}'", name),
        unknown_section_advice(name));
  } else {
    reading.refuse(
        key.source(),
        fmt::format("key '{}' outside of any section", name),
        stray_key_advice(name));
  }
}

// Fills a member from a node; false if the node is of another type.
struct FillMember {
  const toml::node& node;

  template <class Value>
  bool operator()(Value* member) const {
    const std::optional<Value> value = node.value_exact<Value>();
    if (value) {
      *member = *value;
    }
    return value.has_value();
  }
  bool operator()(double* member) const {
    // TOML's 1 is an integer, but a fine learning rate.
    const std::optional<double> value =
        node.is_number() ? node.value<double>() : std::nullopt;
    if (value) {
      *member = *value;
    } else if (const auto whole = node.value_exact<std::int64_t>()) {
      *member = static_cast<double>(*whole);
    }
    return node.is_number();
  }
  bool operator()(std::vector<std::string>* member) const {
    const toml::array* list = node.as_array();
    if (list == nullptr) {
      return false;
    }
    std::vector<std::string> texts;
    for (const toml::node& element : *list) {
      const auto text = element.value_exact<std::string>();
      if (!text) {
        return false;
      }
      texts.push_back(*text);
    }
    *member = std::move(texts);
    return true;
  }
};

void read_key(
    Reading& reading,
    const std::string& section,
    const toml::key& name,
    const toml::node& node) {
  const JobKey* key = find_job_key(section, name.str());
  if (key == nullptr) {
    reading.refuse(
        name.source(),
        fmt::format("unknown key '{}' in [{}]", name.str(), section),
        unknown_key_advice(section, name.str()));
    return;
  }
  reading.positions[section + "." + std::string(name.str())] =
      node.source().begin;
  if (!std::visit(FillMember{node}, key->member(reading.spec))) {
    const std::string limits = limits_text(*key);
    reading.refuse(
        node.source(),
        fmt::format(
            "{} for '{}' in [{}]", node_text(node), name.str(), section),
        fmt::format(
            "give {}{}", type_text(*key), limits.empty() ? "" : ", " + limits));
  }
}

void read_section(
    Reading& reading,
    const toml::key& name,
    const toml::node& node) {
  const auto names = section_names();
  if (std::find(names.begin(), names.end(), name.str()) == names.end()) {
    refuse_section(reading, name, node);
    return;
  }
  const toml::table* table = node.as_table();
  if (table == nullptr) {
    reading.refuse(
        node.source(),
        fmt::format("{} for section '{}'", node_text(node), name.str()),
        fmt::format("write [{}] on a line of its own", name.str()));
    return;
  }
  const std::string section(name.str());
  reading.positions[section] = node.source().begin;
  for (const auto& [key, value] : *table) {
    read_key(reading, section, key, value);
  }
}

// A key that the file leaves out is blamed on its section, else on line 1.
toml::source_position position_of(
    const Reading& reading,
    const KeyProblem& problem) {
  for (const std::string& name :
       {problem.section + "." + problem.key, problem.section}) {
    const auto position = reading.positions.find(name);
    if (position != reading.positions.end()) {
      return position->second;
    }
  }
  return {1, 1};
}

[[noreturn]] void throw_first(
    std::vector<FileProblem> problems,
    const std::string& path) {
  std::stable_sort(
      problems.begin(), problems.end(), [](const auto& a, const auto& b) {
        return a.at < b.at;
      });
  FileProblem& first = problems.front();
  if (const std::size_t further = problems.size() - 1; further > 0) {
    first.found += fmt::format(
        " (and {} further problem{})", further, further == 1 ? "" : "s");
  }
  throw Error(
      ErrorKind::kBadInput,
      kAsked,
      first.found,
      first.advice,
      {.path = path,
       .line = static_cast<int>(first.at.line),
       .column = static_cast<int>(first.at.column)});
}

toml::table parse_toml(std::string_view text, const std::string& path) {
  constexpr int kMostDots = 200; // on a line; a job file needs a few
  if (const int line = line_of_deep_name(text, kMostDots); line > 0) {
    throw_first(
        {{{static_cast<toml::source_index>(line), 1},
          "a name of too many dotted parts",
          "write a section as [name] and a key as name = value"}},
        path);
  }
  try {
    return toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    throw_first(
        {{error.source().begin,
          std::string(error.description()),
          "correct the line; `egpu-train --print-defaults` shows a complete "
          "job file"}},
        path);
  }
}

std::string read_text(const std::filesystem::path& path) {
  constexpr std::uintmax_t kLongestJobFile = 1 << 20;
  const auto refuse = [&](const std::string& found, const char* advice) {
    throw Error(
        ErrorKind::kBadInput, kAsked, found, advice, {.path = path.string()});
  };
  std::error_code failure;
  const auto status = std::filesystem::status(path, failure);
  if (!std::filesystem::exists(status)) {
    refuse("no such file", "check the path of the job file");
  }
  if (!std::filesystem::is_regular_file(status)) {
    refuse("not a regular file", "give the path of a TOML file");
  }
  const std::uintmax_t bytes = std::filesystem::file_size(path, failure);
  if (failure || bytes > kLongestJobFile) {
    refuse("a file of more than 1 MiB", "give the path of a TOML job file");
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(bytes, '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(bytes))) {
    refuse("a file that cannot be read", "check its permissions");
  }
  return text;
}

} // namespace

JobSpec parse_job_text(
    std::string_view text,
    const std::string& path_for_errors) {
  const toml::table file = parse_toml(text, path_for_errors);
  Reading reading;
  for (const auto& [name, node] : file) {
    read_section(reading, name, node);
  }
  for (const KeyProblem& problem : check_job_spec(reading.spec)) {
    reading.problems.push_back(
        {position_of(reading, problem),
         fmt::format("{} in [{}]", problem.found, problem.section),
         problem.advice});
  }
  if (!reading.problems.empty()) {
    throw_first(std::move(reading.problems), path_for_errors);
  }
  return std::move(reading.spec);
}

JobSpec parse_job_file(const std::filesystem::path& path) {
  return parse_job_text(read_text(path), path.string());
}

} // namespace egpurun::jobs
