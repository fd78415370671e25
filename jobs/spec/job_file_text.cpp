#include <fmt/format.h>

#include "jobs/spec/job_file.h"
#include "jobs/spec/job_keys.h"
#include "jobs/spec/toml_text.h"

namespace egpurun::jobs {

namespace {

struct TomlValue {
  std::string operator()(const bool* value) const {
    return *value ? "true" : "false";
  }
  std::string operator()(const std::int64_t* value) const {
    return fmt::format("{}", *value);
  }
  std::string operator()(const double* value) const {
    return toml_number(*value);
  }
  std::string operator()(const std::string* value) const {
    return toml_text(*value);
  }
  std::string operator()(const std::vector<std::string>* value) const {
    std::string list;
    for (const std::string& text : *value) {
      list += (list.empty() ? "" : ", ") + toml_text(text);
    }
    return "[" + list + "]";
  }
};

std::string key_comment(const JobKey& key) {
  const std::string limits = limits_text(key);
  return fmt::format(
      "# {}{}\n", key.description, limits.empty() ? "" : " (" + limits + ")");
}

std::string format_sections(JobSpec spec, bool with_comments) {
  std::string text;
  for (const JobSectionRow& section : job_sections()) {
    text += text.empty() ? "" : "\n";
    text += with_comments ? fmt::format("# {}\n", section.description) : "";
    text += fmt::format("[{}]\n", section.name);
    for (const JobKey& key : job_keys()) {
      if (key.section == section.name) {
        text += with_comments ? key_comment(key) : "";
        text += fmt::format(
            "{} = {}\n", key.name, std::visit(TomlValue{}, key.member(spec)));
      }
    }
  }
  return text;
}

} // namespace

std::string format_job_text(const JobSpec& spec) {
  return format_sections(spec, false);
}

std::string default_job_text() {
  return "# A job of egpurun. Every key may be left out: the values here are the "
         "defaults.\n# Relative paths count from the folder in which the job is "
         "started.\n\n" +
      format_sections(JobSpec{}, true);
}

} // namespace egpurun::jobs
