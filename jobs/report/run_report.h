#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jobs/record/step_record.h"
#include "topology/units.h"

namespace egpurun::jobs {

// Which steps are measured. Without a range the first steps after each start
// are left out: 5 of them, fewer if that were over a quarter of all steps.
struct ReportOptions {
  std::optional<std::int64_t> warmup_steps;
  std::optional<std::int64_t> first_step; // a range leaves out nothing
  std::optional<std::int64_t> last_step; // included
};

struct RankReport {
  int rank = 0;
  std::string host;
  std::string device;
  Seconds step_median{0};
  Seconds data_median{0};
  Seconds compute_median{0}; // forward + backward + optimizer
  Seconds exposed_median{0};
  double exposed_share = 0; // of the rank's step time, 0 to 1
  double slowest_share = 0; // of steps in which its compute took longest
  Bytes sent_per_step; // mean
};

// A step's time is its slowest rank's. Other times and rates are means over
// ranks and steps; medians of step times are the mean of the middle two, p95 is
// the smallest time that 95 % of the steps do not exceed (nearest rank).
struct RunReport {
  RunRecord run; // of the lowest rank's last start
  int starts = 1; // 1 + resumes
  std::int64_t trained_steps = 0; // different ones
  std::int64_t repeated_steps = 0; // trained again after a resume
  std::int64_t warmup_steps = 0; // left out
  std::int64_t measured_steps = 0;

  Seconds step_median{0};
  Seconds step_p95{0};
  double samples_per_s = 0; // over all ranks
  Seconds exposed{0}; // per step, waiting for communication
  double exposed_share = 0; // of step time, 0 to 1
  Seconds communication{0}; // per step, communication thread busy
  double overlap_share = 0; // of communication hidden behind compute, 0 to 1

  Bytes gradient_per_step; // one rank's, before any codec
  Bytes sent_per_rank; // per step, mean over ranks
  Bytes sent_by_all; // per step
  // What an uncompressed ring or sharded all-reduce sends, 2(N-1)/N of the
  // gradient bytes, over what was sent; 0 if nothing was sent.
  double compression_ratio = 0;
  // nccl-tests PERFORMANCE.md: algbw = gradient bytes / communication time,
  // busbw = algbw * 2(N-1)/N. With a codec these exceed the link's rate.
  GigabytesPerSecond algbw;
  GigabytesPerSecond busbw;
  GigabytesPerSecond wire_rate; // sent by one rank / communication time

  // samples/s over (N * samples/s of one rank alone); needs a baseline.
  std::optional<double> baseline_samples_per_s;
  std::optional<double> scaling_efficiency;

  double final_loss = 0; // of the last step
  std::vector<EvaluationRecord> evaluations; // by step, the newest of each
  std::vector<RankReport> ranks;
  std::vector<std::string> notes; // what the records lack
};

// Pure. Error kBadInput if no step is left to measure, or if the baseline's run
// has more than one rank.
RunReport make_report(
    const std::vector<RankRecords>& ranks,
    const std::optional<std::vector<RankRecords>>& one_rank_baseline,
    const ReportOptions& options = {});

} // namespace egpurun::jobs
