#include "jobs/report/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

#include "jobs/report/step_table.h"
#include "topology/error.h"

namespace egpurun::jobs {

namespace {

Seconds median(std::vector<Seconds> times) {
  std::sort(times.begin(), times.end());
  const std::size_t half = times.size() / 2;
  return times.size() % 2 == 1 ? times[half]
                               : (times[half - 1] + times[half]) / 2;
}

Seconds p95(std::vector<Seconds> times) {
  std::sort(times.begin(), times.end());
  const std::size_t count = (times.size() * 95 + 99) / 100; // rounded up
  return times[count - 1];
}

double ratio(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

Seconds compute_time(const StepRecord& step) {
  return step.forward_time + step.backward_time + step.optimizer_time;
}

Bytes rounded(double bytes) {
  return {static_cast<std::uint64_t>(std::llround(bytes))};
}

// Sums over all ranks and measured steps.
struct Sums {
  Seconds slowest{0}; // sum of the steps' times
  Seconds step{0};
  Seconds exposed{0};
  Seconds communication{0};
  double samples = 0;
  double gradient_bytes = 0;
  double sent_bytes = 0;
  std::vector<Seconds> slowest_times; // per step
};

Sums sums_of(const StepTable& table) {
  Sums sums;
  for (const auto& row : table.rows) {
    Seconds slowest{0};
    for (const StepRecord& step : row) {
      slowest = std::max(slowest, step.step_time);
      sums.step += step.step_time;
      sums.exposed += step.exposed_time;
      sums.communication += step.communication_time;
      sums.gradient_bytes += static_cast<double>(step.gradient_bytes.count);
      sums.sent_bytes += static_cast<double>(step.sent_bytes.count);
    }
    sums.samples += static_cast<double>(row.front().global_samples);
    sums.slowest += slowest;
    sums.slowest_times.push_back(slowest);
  }
  return sums;
}

void add_times(RunReport& report, const Sums& sums, double cells) {
  report.step_median = median(sums.slowest_times);
  report.step_p95 = p95(sums.slowest_times);
  report.samples_per_s = ratio(sums.samples, sums.slowest.count());
  report.exposed = sums.exposed / cells;
  report.exposed_share = ratio(sums.exposed.count(), sums.step.count());
  report.communication = sums.communication / cells;
  report.overlap_share = std::clamp(
      ratio(
          (sums.communication - sums.exposed).count(),
          sums.communication.count()),
      0.0,
      1.0);
}

void add_traffic(RunReport& report, const Sums& sums, double cells) {
  const double steps = static_cast<double>(report.measured_steps);
  const double world_size = std::max(report.run.world_size, 1);
  const double bus_factor = 2 * (world_size - 1) / world_size;
  const double seconds = sums.communication.count();
  report.gradient_per_step = rounded(sums.gradient_bytes / cells);
  report.sent_per_rank = rounded(sums.sent_bytes / cells);
  report.sent_by_all = rounded(sums.sent_bytes / steps);
  report.compression_ratio =
      ratio(sums.gradient_bytes * bus_factor, sums.sent_bytes);
  report.algbw = {ratio(sums.gradient_bytes, seconds) / 1e9};
  report.busbw = {report.algbw.value * bus_factor};
  report.wire_rate = {ratio(sums.sent_bytes, seconds) / 1e9};
}

template <class Time>
Seconds column_median(
    const StepTable& table,
    std::size_t column,
    const Time& time) {
  std::vector<Seconds> times;
  for (const auto& row : table.rows) {
    times.push_back(time(row[column]));
  }
  return median(std::move(times));
}

// Column of the rank that computed longest; a slow rank makes the others wait.
std::size_t slowest_column(const std::vector<StepRecord>& row) {
  const auto slowest = std::max_element(
      row.begin(), row.end(), [](const StepRecord& a, const StepRecord& b) {
        return compute_time(a) + a.data_time < compute_time(b) + b.data_time;
      });
  return static_cast<std::size_t>(slowest - row.begin());
}

RankReport rank_report(
    const RankRecords& records,
    const StepTable& table,
    std::size_t column) {
  const RunRecord& run = records.runs.back();
  RankReport report;
  report.rank = run.rank;
  report.host = run.host;
  report.device = run.device;
  const auto median_of = [&](auto time) {
    return column_median(table, column, time);
  };
  report.step_median = median_of([](auto& step) { return step.step_time; });
  report.data_median = median_of([](auto& step) { return step.data_time; });
  report.exposed_median =
      median_of([](auto& step) { return step.exposed_time; });
  report.compute_median = median_of(compute_time);
  Seconds exposed{0};
  Seconds total{0};
  double sent = 0;
  double slowest = 0;
  for (const auto& row : table.rows) {
    exposed += row[column].exposed_time;
    total += row[column].step_time;
    sent += static_cast<double>(row[column].sent_bytes.count);
    slowest += slowest_column(row) == column ? 1 : 0;
  }
  const double steps = static_cast<double>(table.rows.size());
  report.exposed_share = ratio(exposed.count(), total.count());
  report.sent_per_step = rounded(sent / steps);
  report.slowest_share = slowest / steps;
  return report;
}

std::vector<EvaluationRecord> latest_evaluations(const RankRecords& records) {
  std::map<std::int64_t, EvaluationRecord> latest;
  for (const EvaluationRecord& evaluation : records.evaluations) {
    latest.insert_or_assign(evaluation.step, evaluation);
  }
  std::vector<EvaluationRecord> sorted;
  for (const auto& [step, evaluation] : latest) {
    sorted.push_back(evaluation);
  }
  return sorted;
}

void add_notes(
    RunReport& report,
    const std::vector<RankRecords>& ranks,
    const StepTable& table) {
  if (std::cmp_not_equal(ranks.size(), report.run.world_size)) {
    report.notes.push_back(fmt::format(
        "records of {} of {} ranks", ranks.size(), report.run.world_size));
  }
  if (table.partial_steps > 0) {
    report.notes.push_back(fmt::format(
        "{} steps left out: not recorded by every rank", table.partial_steps));
  }
  for (const RankRecords& records : ranks) {
    const int rank = records.runs.back().rank;
    if (records.incomplete_lines > 0) {
      report.notes.push_back(fmt::format(
          "rank {}: half a last line left out (the rank was killed)", rank));
    }
    if (records.earlier_runs > 0) {
      report.notes.push_back(fmt::format(
          "rank {}: {} earlier starts in the same folder left out",
          rank,
          records.earlier_runs));
    }
  }
}

[[noreturn]] void refuse(const char* found, const char* advice) {
  throw Error(ErrorKind::kBadInput, "cannot report on a run", found, advice);
}

} // namespace

RunReport make_report(
    const std::vector<RankRecords>& ranks,
    const std::optional<std::vector<RankRecords>>& one_rank_baseline,
    const ReportOptions& options) {
  for (const RankRecords& records : ranks) {
    if (records.runs.empty()) {
      refuse("a rank without its run record", "give complete records");
    }
  }
  const StepTable table = make_step_table(ranks, options);
  if (table.rows.empty()) {
    refuse(
        "no step to measure",
        "let the job train longer, or ask for other steps");
  }
  RunReport report;
  report.run = ranks.front().runs.back();
  report.starts = static_cast<int>(ranks.front().runs.size());
  report.trained_steps = table.trained_steps;
  report.repeated_steps = table.repeated_steps;
  report.warmup_steps = table.warmup_steps;
  report.measured_steps = static_cast<std::int64_t>(table.rows.size());
  const Sums sums = sums_of(table);
  const double cells = static_cast<double>(table.rows.size() * ranks.size());
  add_times(report, sums, cells);
  add_traffic(report, sums, cells);
  report.final_loss = table.rows.back().front().loss;
  report.evaluations = latest_evaluations(ranks.front());
  for (std::size_t column = 0; column < ranks.size(); ++column) {
    report.ranks.push_back(rank_report(ranks[column], table, column));
  }
  add_notes(report, ranks, table);
  if (one_rank_baseline) {
    const RunReport alone = make_report(*one_rank_baseline, std::nullopt);
    if (alone.run.world_size != 1) {
      refuse(
          "a baseline of several ranks", "give a run of one rank as baseline");
    }
    report.baseline_samples_per_s = alone.samples_per_s;
    report.scaling_efficiency = ratio(
        report.samples_per_s, report.run.world_size * alone.samples_per_s);
  }
  return report;
}

} // namespace egpurun::jobs
