#include "jobs/report/report_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace egpurun::jobs {

namespace {

double milliseconds(Seconds time) {
  return time.count() * 1e3;
}

// Names come from files: no control character may reach the terminal.
std::string printable(std::string text) {
  std::replace_if(
      text.begin(),
      text.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; },
      '?');
  return text;
}

std::string counted(std::size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string format_title(const RunReport& report) {
  const RunRecord& run = report.run;
  std::set<std::string> hosts;
  for (const RankReport& rank : report.ranks) {
    hosts.insert(rank.host);
  }
  std::string text = fmt::format(
      "{}: {}, {} parameters, codec {}\n",
      printable(run.job_name),
      printable(run.model),
      run.parameters,
      printable(run.codec));
  text += fmt::format(
      "{} on {}, global batch {} samples, started {}\n",
      counted(static_cast<std::size_t>(run.world_size), "rank"),
      counted(hosts.size(), "PC"),
      run.global_batch_size,
      printable(run.started_at));
  text += fmt::format(
      "{} steps trained, {} measured ({} left out as warm-up)",
      report.trained_steps,
      report.measured_steps,
      report.warmup_steps);
  if (report.starts > 1) {
    text += fmt::format(
        ", {} resumes, {} steps trained twice",
        report.starts - 1,
        report.repeated_steps);
  }
  return text + "\n\n";
}

using Row = std::pair<const char*, std::string>;

std::string decimals(double value, int digits) {
  return fmt::format("{:.{}f}", value, digits);
}

std::vector<Row> time_rows(const RunReport& report) {
  return {
      {"step time, median [ms]", decimals(milliseconds(report.step_median), 2)},
      {"step time, p95 [ms]", decimals(milliseconds(report.step_p95), 2)},
      {"throughput [samples/s]", decimals(report.samples_per_s, 1)},
      {"exposed communication [ms/step]",
       decimals(milliseconds(report.exposed), 2)},
      {"exposed share of the step [%]",
       decimals(report.exposed_share * 100, 1)},
      {"communication busy [ms/step]",
       decimals(milliseconds(report.communication), 2)},
      {"communication overlapped [%]", decimals(report.overlap_share * 100, 1)},
  };
}

std::vector<Row> traffic_rows(const RunReport& report) {
  return {
      {"gradients per rank [MB/step]",
       decimals(report.gradient_per_step.megabytes(), 3)},
      {"sent per rank [MB/step]",
       decimals(report.sent_per_rank.megabytes(), 3)},
      {"sent by all ranks [MB/step]",
       decimals(report.sent_by_all.megabytes(), 3)},
      {"compression of the traffic [x]", decimals(report.compression_ratio, 2)},
      {"algbw [GB/s]", decimals(report.algbw.value, 4)},
      {"busbw [GB/s]", decimals(report.busbw.value, 4)},
      {"rate on the wire, per rank [Gbit/s]",
       decimals(report.wire_rate.gigabits_per_second(), 3)},
  };
}

std::vector<Row> scaling_rows(const RunReport& report) {
  if (!report.scaling_efficiency) {
    return {};
  }
  return {
      {"one rank alone [samples/s]",
       decimals(*report.baseline_samples_per_s, 1)},
      {"scaling efficiency [%]", decimals(*report.scaling_efficiency * 100, 1)},
  };
}

std::string format_rows(const RunReport& report) {
  std::vector<Row> rows = time_rows(report);
  // One rank alone sends nothing.
  for (auto& more :
       {report.run.world_size > 1 ? traffic_rows(report) : std::vector<Row>{},
        scaling_rows(report)}) {
    rows.insert(rows.end(), more.begin(), more.end());
  }
  std::string text;
  for (const auto& [title, value] : rows) {
    text += fmt::format("{:<36}{:>12}\n", title, value);
  }
  return text;
}

std::string format_ranks(const RunReport& report) {
  std::size_t width = 4;
  for (const RankReport& rank : report.ranks) {
    width = std::max(width, rank.host.size());
  }
  std::string text = fmt::format(
      "\n{:>4}  {:<{}}  {:>9}  {:>12}  {:>9}  {:>12}  {:>11}  {:>12}\n",
      "rank",
      "host",
      width,
      "step [ms]",
      "compute [ms]",
      "data [ms]",
      "exposed [ms]",
      "exposed [%]",
      "slowest in [%]");
  for (const RankReport& rank : report.ranks) {
    text += fmt::format(
        "{:>4}  {:<{}}  {:>9.2f}  {:>12.2f}  {:>9.2f}  {:>12.2f}  {:>11.1f}  "
        "{:>14.1f}\n",
        rank.rank,
        printable(rank.host),
        width,
        milliseconds(rank.step_median),
        milliseconds(rank.compute_median),
        milliseconds(rank.data_median),
        milliseconds(rank.exposed_median),
        rank.exposed_share * 100,
        rank.slowest_share * 100);
  }
  return text;
}

std::string format_learning(const RunReport& report) {
  std::string text =
      fmt::format("\nloss of the last step: {:.4f}\n", report.final_loss);
  if (report.evaluations.empty()) {
    return text;
  }
  text += fmt::format(
      "\n{:>5}  {:>8}  {:>9}  {:>17}\n",
      "epoch",
      "step",
      "test loss",
      "test accuracy [%]");
  for (const EvaluationRecord& evaluation : report.evaluations) {
    text += fmt::format(
        "{:>5}  {:>8}  {:>9.4f}  {:>17.2f}\n",
        evaluation.epoch + 1,
        evaluation.step,
        evaluation.loss,
        evaluation.accuracy * 100);
  }
  return text;
}

} // namespace

std::string format_report(const RunReport& report) {
  std::string text = format_title(report) + format_rows(report) +
      format_ranks(report) + format_learning(report);
  for (const std::string& note : report.notes) {
    text += "note: " + printable(note) + "\n";
  }
  return text;
}

} // namespace egpurun::jobs
