#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "jobs/record/step_record.h"
#include "jobs/report/run_report.h"

namespace egpurun::jobs {

// The measured steps of a run as rows, its ranks as columns. A step that was
// trained again counts once, as it was trained last; a step that not every rank
// recorded is left out.
struct StepTable {
  std::vector<std::vector<StepRecord>> rows; // by step, then rank
  std::int64_t trained_steps = 0;
  std::int64_t repeated_steps = 0;
  std::int64_t partial_steps = 0; // missing on some rank
  std::int64_t warmup_steps = 0; // left out
};

StepTable make_step_table(
    const std::vector<RankRecords>& ranks,
    const ReportOptions& options);

} // namespace egpurun::jobs
