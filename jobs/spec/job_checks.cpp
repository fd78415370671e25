#include "jobs/spec/job_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "jobs/spec/host_entry.h"
#include "jobs/spec/job_keys.h"
#include "jobs/spec/nearest_name.h"
#include "jobs/spec/toml_text.h"
#include "topology/error.h"

namespace egpurun::jobs {

namespace {

using Problems = std::vector<KeyProblem>;

bool within(double value, const KeyLimits& limits) {
  const bool enough = limits.minimum_excluded ? value > limits.minimum
                                              : value >= limits.minimum;
  const bool few_enough = limits.maximum_excluded ? value < limits.maximum
                                                  : value <= limits.maximum;
  return std::isfinite(value) && enough && few_enough;
}

void check_number(
    const JobKey& key,
    double value,
    const std::string& text,
    Problems& problems) {
  if (within(value, key.limits)) {
    return;
  }
  const std::string limits = limits_text(key);
  problems.push_back(
      {std::string(key.section),
       std::string(key.name),
       fmt::format("{} = {}", key.name, text),
       fmt::format(
           "give {}{}", type_text(key), limits.empty() ? "" : ", " + limits)});
}

void check_text(
    const JobKey& key,
    const std::string& value,
    Problems& problems) {
  const auto& words = key.limits.words;
  std::string found = fmt::format("{} = \"{}\"", key.name, value);
  std::string advice;
  if (value.find('\0') != std::string::npos) {
    found = fmt::format("{} with a zero byte inside", key.name);
    advice = "leave the zero byte out";
  } else if (
      words.empty() ||
      std::find(words.begin(), words.end(), value) != words.end()) {
    return;
  } else if (const auto nearest = nearest_name(value, words)) {
    advice =
        fmt::format("write \"{}\"; allowed: {}", *nearest, limits_text(key));
  } else {
    advice = "write " + limits_text(key);
  }
  problems.push_back(
      {std::string(key.section), std::string(key.name), found, advice});
}

void check_limits(const JobSpec& spec, Problems& problems) {
  JobSpec copy = spec;
  for (const JobKey& key : job_keys()) {
    const KeyMember member = key.member(copy);
    if (const auto* whole = std::get_if<std::int64_t*>(&member)) {
      check_number(
          key,
          static_cast<double>(**whole),
          fmt::format("{}", **whole),
          problems);
    } else if (const auto* real = std::get_if<double*>(&member)) {
      check_number(key, **real, toml_number(**real), problems);
    } else if (const auto* text = std::get_if<std::string*>(&member)) {
      check_text(key, **text, problems);
    }
  }
}

void check_hosts(const HostsSection& hosts, Problems& problems) {
  std::set<std::string> seen;
  for (const std::string& text : hosts.list) {
    const auto entry = parse_host_entry(text);
    if (!entry) {
      problems.push_back(
          {"hosts",
           "list",
           fmt::format("\"{}\" in list", text),
           "write a host as \"name\" or \"name:slots\" with at least 1 slot"});
    } else if (!seen.insert(entry->host).second) {
      problems.push_back(
          {"hosts",
           "list",
           fmt::format("\"{}\" twice in list", entry->host),
           fmt::format("write it once, as \"{}:2\"", entry->host)});
    }
  }
  if (!hosts.list.empty() && !hosts.hostfile.empty()) {
    problems.push_back(
        {"hosts",
         "hostfile",
         "both list and hostfile",
         "keep one of the two; list = [] uses the hostfile"});
  }
  if (!hosts.network.empty() && !is_network_choice(hosts.network)) {
    problems.push_back(
        {"hosts",
         "network",
         fmt::format("network = \"{}\"", hosts.network),
         "write an interface like \"eth0\", a network like \"10.0.0.0/24\", "
         "or \"\""});
  }
}

void check_work(const JobSpec& spec, Problems& problems) {
  // Below 1 it has been refused already.
  if (spec.train.batch_size >= 1 && spec.hosts.ranks > spec.train.batch_size) {
    problems.push_back(
        {"train",
         "batch_size",
         fmt::format(
             "batch_size = {} for {} ranks",
             spec.train.batch_size,
             spec.hosts.ranks),
         fmt::format(
             "give each rank a sample: batch_size of at least {}, or fewer "
             "hosts.ranks",
             spec.hosts.ranks)});
  }
  if (spec.data.folder.empty()) {
    problems.push_back(
        {"data",
         "folder",
         "folder = \"\"",
         "name the folder that holds the data set's files"});
  }
}

void check_checkpoint(const CheckpointSection& saved, Problems& problems) {
  if (saved.resume == "require" && saved.folder.empty()) {
    problems.push_back(
        {"checkpoint",
         "resume",
         "resume = \"require\" without a checkpoint folder",
         "set checkpoint.folder, or resume = \"auto\""});
  }
}

} // namespace

std::vector<KeyProblem> check_job_spec(const JobSpec& spec) {
  Problems problems;
  check_limits(spec, problems);
  check_hosts(spec.hosts, problems);
  check_work(spec, problems);
  check_checkpoint(spec.checkpoint, problems);
  return problems;
}

void require_valid(const JobSpec& spec) {
  const Problems problems = check_job_spec(spec);
  if (!problems.empty()) {
    const KeyProblem& first = problems.front();
    throw Error(
        ErrorKind::kBadInput,
        "cannot run this job",
        fmt::format("{} in [{}]", first.found, first.section),
        first.advice);
  }
}

} // namespace egpurun::jobs
