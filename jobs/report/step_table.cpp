#include "jobs/report/step_table.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace egpurun::jobs {

namespace {

using Rows = std::map<std::int64_t, std::vector<StepRecord>>;

// Latest record of each step of one rank.
std::map<std::int64_t, StepRecord> latest_steps(const RankRecords& records) {
  std::map<std::int64_t, StepRecord> latest;
  for (const StepRecord& step : records.steps) {
    latest.insert_or_assign(step.step, step);
  }
  return latest;
}

Rows rows_of(const std::vector<RankRecords>& ranks) {
  Rows rows;
  for (const RankRecords& records : ranks) {
    for (auto& [number, step] : latest_steps(records)) {
      rows[number].push_back(step);
    }
  }
  return rows;
}

// First steps of all starts, so far as they were trained.
std::set<std::int64_t> warmup_of(
    const std::vector<RankRecords>& ranks,
    const Rows& rows,
    std::int64_t steps_per_start) {
  std::set<std::int64_t> warmup;
  for (const RunRecord& run : ranks.front().runs) {
    auto row = rows.lower_bound(run.first_step);
    for (std::int64_t i = 0; i < steps_per_start && row != rows.end(); ++i) {
      warmup.insert((row++)->first);
    }
  }
  return warmup;
}

std::int64_t default_warmup(const Rows& rows, std::size_t starts) {
  constexpr std::int64_t kWarmup = 5;
  const auto quarter = static_cast<std::int64_t>(rows.size() / 4);
  return std::min(
      kWarmup,
      quarter / static_cast<std::int64_t>(std::max<std::size_t>(starts, 1)));
}

} // namespace

StepTable make_step_table(
    const std::vector<RankRecords>& ranks,
    const ReportOptions& options) {
  StepTable table;
  if (ranks.empty()) {
    return table;
  }
  Rows rows = rows_of(ranks);
  table.trained_steps = static_cast<std::int64_t>(rows.size());
  table.repeated_steps = static_cast<std::int64_t>(ranks.front().steps.size()) -
      static_cast<std::int64_t>(latest_steps(ranks.front()).size());
  table.partial_steps = static_cast<std::int64_t>(std::erase_if(
      rows, [&](const auto& row) { return row.second.size() < ranks.size(); }));
  const bool ranged = options.first_step || options.last_step;
  const std::set<std::int64_t> warmup = warmup_of(
      ranks,
      rows,
      ranged ? 0
             : options.warmup_steps.value_or(
                   default_warmup(rows, ranks.front().runs.size())));
  for (auto& [number, row] : rows) {
    const bool inside = number >= options.first_step.value_or(number) &&
        number <= options.last_step.value_or(number);
    if (warmup.contains(number)) {
      ++table.warmup_steps;
    } else if (inside) {
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

} // namespace egpurun::jobs
