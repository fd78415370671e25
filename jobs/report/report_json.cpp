#include <nlohmann/json.hpp>

#include "jobs/report/report_text.h"

namespace egpurun::jobs {

namespace {

using Json = nlohmann::ordered_json;

double milliseconds(Seconds time) {
  return time.count() * 1e3;
}

Json run_json(const RunReport& report) {
  const RunRecord& run = report.run;
  return {
      {"job_name", run.job_name},
      {"model", run.model},
      {"parameters", run.parameters},
      {"codec", run.codec},
      {"world_size", run.world_size},
      {"global_batch_size", run.global_batch_size},
      {"started_at", run.started_at},
      {"starts", report.starts},
      {"trained_steps", report.trained_steps},
      {"repeated_steps", report.repeated_steps},
      {"warmup_steps", report.warmup_steps},
      {"measured_steps", report.measured_steps}};
}

void add_measures(Json& json, const RunReport& report) {
  json["step_median_ms"] = milliseconds(report.step_median);
  json["step_p95_ms"] = milliseconds(report.step_p95);
  json["samples_per_s"] = report.samples_per_s;
  json["exposed_ms"] = milliseconds(report.exposed);
  json["exposed_share"] = report.exposed_share;
  json["communication_ms"] = milliseconds(report.communication);
  json["overlap_share"] = report.overlap_share;
  json["gradient_bytes_per_step"] = report.gradient_per_step.count;
  json["sent_bytes_per_rank"] = report.sent_per_rank.count;
  json["sent_bytes_by_all"] = report.sent_by_all.count;
  json["compression_ratio"] = report.compression_ratio;
  json["algbw_gb_per_s"] = report.algbw.value;
  json["busbw_gb_per_s"] = report.busbw.value;
  json["wire_gb_per_s"] = report.wire_rate.value;
  if (report.scaling_efficiency) {
    json["baseline_samples_per_s"] = *report.baseline_samples_per_s;
    json["scaling_efficiency"] = *report.scaling_efficiency;
  }
  json["final_loss"] = report.final_loss;
}

Json evaluation_json(const EvaluationRecord& evaluation) {
  return {
      {"epoch", evaluation.epoch},
      {"step", evaluation.step},
      {"loss", evaluation.loss},
      {"accuracy", evaluation.accuracy},
      {"samples", evaluation.samples},
      {"time_ms", milliseconds(evaluation.time)}};
}

Json rank_json(const RankReport& rank) {
  return {
      {"rank", rank.rank},
      {"host", rank.host},
      {"device", rank.device},
      {"step_median_ms", milliseconds(rank.step_median)},
      {"compute_median_ms", milliseconds(rank.compute_median)},
      {"data_median_ms", milliseconds(rank.data_median)},
      {"exposed_median_ms", milliseconds(rank.exposed_median)},
      {"exposed_share", rank.exposed_share},
      {"slowest_share", rank.slowest_share},
      {"sent_bytes_per_step", rank.sent_per_step.count}};
}

} // namespace

std::string format_report_json(const RunReport& report) {
  Json json = run_json(report);
  add_measures(json, report);
  json["evaluations"] = Json::array();
  for (const EvaluationRecord& evaluation : report.evaluations) {
    json["evaluations"].push_back(evaluation_json(evaluation));
  }
  json["ranks"] = Json::array();
  for (const RankReport& rank : report.ranks) {
    json["ranks"].push_back(rank_json(rank));
  }
  json["notes"] = report.notes;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace egpurun::jobs
