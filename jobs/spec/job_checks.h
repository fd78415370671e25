#pragma once

#include <string>
#include <vector>

#include "jobs/spec/job_spec.h"

namespace egpurun::jobs {

// A value that no job can have; section and key as in the job file.
struct KeyProblem {
  std::string section;
  std::string key;
  std::string found;
  std::string advice;
};

// Limits of single keys, then keys that contradict each other; empty = good.
// Names of models, data sets and codecs are checked by the runtime's tables.
std::vector<KeyProblem> check_job_spec(const JobSpec& spec);

// For values that did not come from a job file (tests, command lines): throws
// Error kBadInput with the first problem of check_job_spec.
void require_valid(const JobSpec& spec);

} // namespace egpurun::jobs
