#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "jobs/spec/job_spec.h"

namespace egpurun::jobs {

// The member of a JobSpec that a key fills; its type is the key's type.
using KeyMember = std::variant<
    bool*,
    std::int64_t*,
    double*,
    std::string*,
    std::vector<std::string>*>;

// Values a key accepts. Numbers: minimum to maximum, both included unless said
// otherwise. Texts: one of `words`, or any text if there are none.
struct KeyLimits {
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
  bool minimum_excluded = false;
  bool maximum_excluded = false;
  std::vector<std::string_view> words;
};

// One row of the table from which job files are parsed, checked, written and
// documented. A new key is one member in job_spec.h and one row in
// job_keys.cpp.
struct JobKey {
  std::string_view section;
  std::string_view name;
  KeyMember (*member)(JobSpec& spec);
  KeyLimits limits;
  std::string_view description;
};

struct JobSectionRow {
  std::string_view name;
  std::string_view description;
};

// In the order of the generated job file.
const std::vector<JobSectionRow>& job_sections();
const std::vector<JobKey>& job_keys();

// Null if there is no such key.
const JobKey* find_job_key(std::string_view section, std::string_view name);

// Names for messages: all sections, or all keys of one section.
std::vector<std::string_view> section_names();
std::vector<std::string_view> key_names(std::string_view section);

// "a whole number", "a number", "true or false", "a text", "a list of texts".
std::string_view type_text(const JobKey& key);

// "1 to 1000", "at least 0", "above 0", "0 to below 1", "sgd or adamw"; "" if
// the type says it all.
std::string limits_text(const JobKey& key);

} // namespace egpurun::jobs
