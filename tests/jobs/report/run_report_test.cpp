#include "jobs/report/run_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "jobs/report/report_text.h"
#include "topology/error.h"

namespace egpurun::jobs {
namespace {

RankRecords rank_with_run(int rank, int world_size) {
  RankRecords records;
  RunRecord run;
  run.job_name = "test";
  run.model = "mlp";
  run.codec = "fp16";
  run.host = "pc" + std::to_string(rank + 1);
  run.rank = rank;
  run.world_size = world_size;
  run.global_batch_size = 100;
  records.runs.push_back(run);
  return records;
}

// Times in ms; 1 MB of gradients.
StepRecord step_of(
    std::int64_t number,
    double step_ms,
    double compute_ms,
    double exposed_ms,
    double communication_ms,
    std::uint64_t sent_bytes) {
  StepRecord step;
  step.step = number;
  step.step_time = Seconds(step_ms / 1e3);
  step.backward_time = Seconds(compute_ms / 1e3);
  step.exposed_time = Seconds(exposed_ms / 1e3);
  step.communication_time = Seconds(communication_ms / 1e3);
  step.samples = 50;
  step.global_samples = 100;
  step.gradient_bytes = {1000000};
  step.sent_bytes = {sent_bytes};
  step.loss = 1.0 / static_cast<double>(number + 1);
  return step;
}

// Four steps, slowest times 10, 20, 30, 40 ms.
std::vector<RankRecords> two_ranks() {
  std::vector<RankRecords> ranks{rank_with_run(0, 2), rank_with_run(1, 2)};
  ranks[0].steps = {
      step_of(0, 10, 5, 4, 8, 500000),
      step_of(1, 20, 9, 4, 8, 500000),
      step_of(2, 28, 9, 4, 8, 500000),
      step_of(3, 40, 9, 4, 8, 500000)};
  ranks[1].steps = {
      step_of(0, 8, 6, 1, 4, 300000),
      step_of(1, 19, 8, 1, 4, 300000),
      step_of(2, 30, 10, 1, 4, 300000),
      step_of(3, 35, 30, 1, 4, 300000)};
  return ranks;
}

const ReportOptions kNoWarmup{
    .warmup_steps = 0,
    .first_step = std::nullopt,
    .last_step = std::nullopt};

TEST(RunReport, NumbersByHand) {
  const RunReport report = make_report(two_ranks(), std::nullopt, kNoWarmup);
  EXPECT_EQ(report.trained_steps, 4);
  EXPECT_EQ(report.measured_steps, 4);
  EXPECT_NEAR(report.step_median.count(), 0.025, 1e-12);
  EXPECT_NEAR(report.step_p95.count(), 0.040, 1e-12);
  EXPECT_NEAR(report.samples_per_s, 400 / 0.100, 1e-9);
  EXPECT_NEAR(report.exposed.count(), 0.0025, 1e-12);
  // 4 * (4 + 1) ms of (98 + 92) ms.
  EXPECT_NEAR(report.exposed_share, 20.0 / 190.0, 1e-12);
  EXPECT_NEAR(report.communication.count(), 0.006, 1e-12);
  EXPECT_NEAR(report.overlap_share, (48.0 - 20.0) / 48.0, 1e-12);
  EXPECT_EQ(report.gradient_per_step.count, 1000000u);
  EXPECT_EQ(report.sent_per_rank.count, 400000u);
  EXPECT_EQ(report.sent_by_all.count, 800000u);
  // Two ranks: 2(N-1)/N = 1.
  EXPECT_NEAR(report.compression_ratio, 2.5, 1e-12);
  // 8 MB of gradients in 48 ms.
  EXPECT_NEAR(report.algbw.value, 8e6 / 0.048 / 1e9, 1e-12);
  EXPECT_NEAR(report.busbw.value, report.algbw.value, 1e-12);
  EXPECT_NEAR(report.wire_rate.value, 3.2e6 / 0.048 / 1e9, 1e-12);
  EXPECT_EQ(report.final_loss, 0.25);
  EXPECT_FALSE(report.scaling_efficiency);
  EXPECT_TRUE(report.notes.empty());
}

TEST(RunReport, RanksShowTheStraggler) {
  const RunReport report = make_report(two_ranks(), std::nullopt, kNoWarmup);
  ASSERT_EQ(report.ranks.size(), 2u);
  EXPECT_EQ(report.ranks[1].host, "pc2");
  EXPECT_NEAR(report.ranks[0].step_median.count(), 0.024, 1e-12);
  EXPECT_NEAR(report.ranks[1].compute_median.count(), 0.009, 1e-12);
  EXPECT_NEAR(report.ranks[0].exposed_share, 16.0 / 98.0, 1e-12);
  EXPECT_NEAR(report.ranks[0].slowest_share, 0.25, 1e-12);
  EXPECT_NEAR(report.ranks[1].slowest_share, 0.75, 1e-12);
  EXPECT_EQ(report.ranks[1].sent_per_step.count, 300000u);
}

TEST(RunReport, BusFactorOfFourRanks) {
  std::vector<RankRecords> ranks;
  for (int rank = 0; rank < 4; ++rank) {
    ranks.push_back(rank_with_run(rank, 4));
    ranks.back().steps = {step_of(0, 10, 5, 2, 4, 750000)};
  }
  const RunReport report = make_report(ranks, std::nullopt, kNoWarmup);
  EXPECT_NEAR(report.algbw.value, 0.25, 1e-12);
  EXPECT_NEAR(report.busbw.value, 0.375, 1e-12);
  EXPECT_NEAR(report.compression_ratio, 2.0, 1e-12);
}

TEST(RunReport, ScalingEfficiency) {
  std::vector<RankRecords> alone{rank_with_run(0, 1)};
  alone[0].steps = {step_of(0, 40, 40, 0, 0, 0)}; // 2500 samples/s
  const RunReport report = make_report(two_ranks(), alone, kNoWarmup);
  EXPECT_NEAR(*report.baseline_samples_per_s, 2500, 1e-9);
  EXPECT_NEAR(*report.scaling_efficiency, 4000.0 / 5000.0, 1e-12);
  EXPECT_THROW(make_report(two_ranks(), two_ranks(), kNoWarmup), Error);
}

TEST(RunReport, OneRankAloneHasNoTraffic) {
  std::vector<RankRecords> alone{rank_with_run(0, 1)};
  alone[0].steps = {step_of(0, 0, 0, 0, 0, 0)};
  const RunReport report = make_report(alone, std::nullopt);
  EXPECT_EQ(report.samples_per_s, 0);
  EXPECT_EQ(report.busbw.value, 0);
  EXPECT_EQ(report.compression_ratio, 0);
  EXPECT_EQ(report.overlap_share, 0);
}

TEST(RunReport, WarmupIsLeftOut) {
  std::vector<RankRecords> ranks{rank_with_run(0, 1)};
  for (int i = 0; i < 40; ++i) {
    ranks[0].steps.push_back(step_of(i, i < 5 ? 1000 : 10, 5, 0, 0, 0));
  }
  RunReport report = make_report(ranks, std::nullopt);
  EXPECT_EQ(report.warmup_steps, 5);
  EXPECT_EQ(report.measured_steps, 35);
  EXPECT_NEAR(report.samples_per_s, 10000, 1e-6);
  ranks[0].steps.resize(8); // a quarter
  EXPECT_EQ(make_report(ranks, std::nullopt).warmup_steps, 2);
  ranks[0].steps.resize(1);
  EXPECT_EQ(make_report(ranks, std::nullopt).warmup_steps, 0);
}

TEST(RunReport, RangeOfSteps) {
  ReportOptions middle;
  middle.first_step = 1;
  middle.last_step = 2;
  const RunReport report = make_report(two_ranks(), std::nullopt, middle);
  EXPECT_EQ(report.measured_steps, 2);
  EXPECT_NEAR(report.step_median.count(), 0.025, 1e-12);
  EXPECT_EQ(report.final_loss, 1.0 / 3);
  middle.first_step = 90;
  middle.last_step = 99;
  EXPECT_THROW(make_report(two_ranks(), std::nullopt, middle), Error);
}

TEST(RunReport, StepsTrainedTwiceCountOnceAsLast) {
  auto ranks = two_ranks();
  for (RankRecords& records : ranks) {
    records.runs.push_back(records.runs.front());
    records.runs.back().first_step = 2;
    records.steps.push_back(step_of(2, 100, 5, 0, 1, 1));
    records.steps.push_back(step_of(3, 100, 5, 0, 1, 1));
  }
  const RunReport report = make_report(ranks, std::nullopt, kNoWarmup);
  EXPECT_EQ(report.starts, 2);
  EXPECT_EQ(report.trained_steps, 4);
  EXPECT_EQ(report.repeated_steps, 2);
  EXPECT_NEAR(report.samples_per_s, 400 / 0.230, 1e-9);
}

TEST(RunReport, MissingPiecesAreNoted) {
  auto ranks = two_ranks();
  ranks[1].steps.pop_back();
  ranks[1].incomplete_lines = 1;
  ranks[0].runs[0].world_size = 3;
  ranks[0].earlier_runs = 2;
  const RunReport report = make_report(ranks, std::nullopt, kNoWarmup);
  EXPECT_EQ(report.measured_steps, 3);
  EXPECT_THAT(
      report.notes,
      testing::ElementsAre(
          "records of 2 of 3 ranks",
          "1 steps left out: not recorded by every rank",
          "rank 0: 2 earlier starts in the same folder left out",
          "rank 1: half a last line left out (the rank was killed)"));
}

TEST(RunReport, NothingToMeasureIsAnError) {
  EXPECT_THROW(make_report({}, std::nullopt), Error);
  EXPECT_THROW(make_report({RankRecords{}}, std::nullopt), Error);
  EXPECT_THROW(make_report({rank_with_run(0, 1)}, std::nullopt), Error);
}

TEST(ReportText, TableHasTheNumbersWithUnits) {
  auto ranks = two_ranks();
  EvaluationRecord evaluation;
  evaluation.step = 4;
  evaluation.accuracy = 0.8812;
  evaluation.loss = 0.5;
  ranks[0].evaluations = {evaluation};
  ranks[0].runs[0].job_name = "bad\x1b[31m";
  const std::string text =
      format_report(make_report(ranks, std::nullopt, kNoWarmup));
  for (const char* part :
       {"bad?[31m: mlp, 0 parameters, codec fp16\n",
        "2 ranks on 2 PCs, global batch 100 samples",
        "step time, median [ms]                     25.00\n",
        "throughput [samples/s]                    4000.0\n",
        "sent per rank [MB/step]                    0.400\n",
        "compression of the traffic [x]              2.50\n",
        "loss of the last step: 0.2500\n",
        "    1         4     0.5000              88.12\n"}) {
    EXPECT_THAT(text, testing::HasSubstr(part));
  }
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("scaling")));
}

TEST(ReportText, JsonHasTheSameNumbers) {
  const auto json = nlohmann::json::parse(
      format_report_json(make_report(two_ranks(), std::nullopt, kNoWarmup)));
  EXPECT_NEAR(json["step_median_ms"], 25.0, 1e-9);
  EXPECT_EQ(json["sent_bytes_per_rank"], 400000);
  EXPECT_EQ(json["ranks"].size(), 2u);
  EXPECT_FALSE(json.contains("scaling_efficiency"));
}

} // namespace
} // namespace egpurun::jobs
