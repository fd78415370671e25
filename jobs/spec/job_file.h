#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "jobs/spec/job_spec.h"

namespace egpurun::jobs {

// Reads a job file (TOML; keys: job_keys.h). Keys that it leaves out keep their
// defaults. Relative paths stay as written: they count from the folder in which
// the job is started, not from the job file's.
// Throws Error kBadInput with path:line:column for the first problem and the
// number of further ones.
JobSpec parse_job_file(const std::filesystem::path& path);
JobSpec parse_job_text(
    std::string_view text,
    const std::string& path_for_errors);

// The job file of a spec; parsing it gives an equal spec, bit for bit.
std::string format_job_text(const JobSpec& spec);

// A complete job file with every default and a comment for every key.
std::string default_job_text();

} // namespace egpurun::jobs
