#include "jobs/record/record_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "topology/error.h"

namespace egpurun::jobs {
namespace {

RunRecord some_run() {
  RunRecord run;
  run.job_name = "a \"job\" über\nlines";
  run.model = "cnn";
  run.codec = "none";
  run.device = "cpu";
  run.host = "pc1";
  run.rank = 1;
  run.world_size = 2;
  run.parameters = 421642;
  run.global_batch_size = 128;
  run.started_at = "2024-05-01T12:00:00Z";
  return run;
}

StepRecord some_step(std::int64_t number) {
  StepRecord step;
  step.step = number;
  step.step_time = Seconds(0.0123456);
  step.exposed_time = Seconds(0.001);
  step.samples = 64;
  step.global_samples = 128;
  step.loss = 0.1 + 0.2;
  step.learning_rate = 0.05;
  step.gradient_bytes = {std::numeric_limits<std::uint64_t>::max()};
  step.sent_bytes = {843284};
  step.buckets = 3;
  return step;
}

// Place and found of the error; "" if the text is good.
std::string complaint(const std::string& text) {
  try {
    parse_rank_records(text, "r.jsonl");
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    return topology::format_place(error.place()) + " | " + error.found();
  }
}

TEST(RecordJson, StepLineIsStable) {
  StepRecord step = some_step(7);
  step.gradient_bytes = {1686568};
  EXPECT_EQ(
      to_json_line(step),
      R"({"type":"step","epoch":0,"step":7,"step_ms":12.3456,"data_ms":0.0,)"
      R"("forward_ms":0.0,"backward_ms":0.0,"exposed_ms":1.0,)"
      R"("optimizer_ms":0.0,"communication_ms":0.0,"samples":64,)"
      R"("global_samples":128,"loss":0.30000000000000004,)"
      R"("learning_rate":0.05,"gradient_bytes":1686568,"sent_bytes":843284,)"
      R"("received_bytes":0,"buckets":3})");
}

TEST(RecordJson, RoundTrip) {
  EvaluationRecord evaluation;
  evaluation.accuracy = 0.8834;
  evaluation.loss = 1e-300;
  evaluation.samples = 10000;
  const std::string text = to_json_line(some_run()) + "\n" +
      to_json_line(some_step(0)) + "\n" + to_json_line(evaluation) + "\n";
  const RankRecords records = parse_rank_records(text, "r.jsonl");
  EXPECT_THAT(records.runs, testing::ElementsAre(some_run()));
  EXPECT_THAT(records.evaluations, testing::ElementsAre(evaluation));
  ASSERT_EQ(records.steps.size(), 1u);
  EXPECT_NEAR(records.steps[0].step_time.count(), 0.0123456, 1e-12);
  StepRecord step = records.steps[0];
  step.step_time = some_step(0).step_time;
  step.exposed_time = some_step(0).exposed_time;
  EXPECT_EQ(step, some_step(0));
  EXPECT_EQ(to_json_line(records.steps[0]), to_json_line(some_step(0)));
}

TEST(RecordJson, LossThatIsNoNumberSurvives) {
  StepRecord step = some_step(0);
  step.loss = std::numeric_limits<double>::quiet_NaN();
  EvaluationRecord evaluation;
  evaluation.loss = -std::numeric_limits<double>::infinity();
  EXPECT_THAT(to_json_line(step), testing::HasSubstr(R"("loss":"nan")"));
  EXPECT_THAT(to_json_line(evaluation), testing::HasSubstr(R"("loss":"-inf")"));
  const RankRecords records = parse_rank_records(
      to_json_line(step) + "\n" + to_json_line(evaluation) + "\n", "r.jsonl");
  EXPECT_TRUE(std::isnan(records.steps[0].loss));
  EXPECT_EQ(records.evaluations[0].loss, evaluation.loss);
}

TEST(RecordJson, BytesThatAreNotTextDoNotStopARun) {
  RunRecord run = some_run();
  run.job_name = "\xff\xfe";
  EXPECT_EQ(complaint(to_json_line(run) + "\n"), "");
}

TEST(RecordJson, HalfALastLineIsCounted) {
  const std::string whole = to_json_line(some_step(0)) + "\n";
  const std::string text = whole + to_json_line(some_step(1));
  for (std::size_t cut = whole.size() + 1; cut < text.size(); ++cut) {
    const auto records = parse_rank_records(text.substr(0, cut), "r.jsonl");
    ASSERT_EQ(records.steps.size(), 1u);
    ASSERT_EQ(records.incomplete_lines, 1);
  }
  EXPECT_EQ(parse_rank_records(text, "r.jsonl").steps.size(), 2u);
  EXPECT_EQ(parse_rank_records(text, "r.jsonl").incomplete_lines, 0);
}

TEST(RecordJson, FreshStartDropsEarlierRuns) {
  RunRecord resumed = some_run();
  resumed.first_step = 1;
  const std::string run = to_json_line(some_run()) + "\n";
  const std::string step = to_json_line(some_step(0)) + "\n";
  const std::string resume = to_json_line(resumed) + "\n";
  const auto records =
      parse_rank_records(run + step + resume + step + run + step, "r.jsonl");
  EXPECT_EQ(records.runs.size(), 1u);
  EXPECT_EQ(records.steps.size(), 1u);
  EXPECT_EQ(records.earlier_runs, 2);
  EXPECT_EQ(
      parse_rank_records(run + step + resume + step, "r.jsonl").runs.size(),
      2u);
}

TEST(RecordJson, UnknownFieldsAreSkipped) {
  std::string line = to_json_line(some_step(0));
  line.insert(line.size() - 1, R"(,"temperature_c":61)");
  EXPECT_EQ(complaint(line + "\n"), "");
}

TEST(RecordJson, BadLinesSayWhere) {
  const std::string good = to_json_line(some_step(0)) + "\n";
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string line = good;
    const std::size_t at = line.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return good + line.replace(at, from.size(), to);
  };
  EXPECT_EQ(
      complaint(good + "\n" + good), "r.jsonl:2 | a line that is not JSON");
  EXPECT_EQ(complaint("{\n"), "r.jsonl:1 | a line that is not JSON");
  EXPECT_EQ(complaint("[1]\n"), "r.jsonl:1 | a line that is no record");
  EXPECT_EQ(complaint("{}\n"), "r.jsonl:1 | a line that is no record");
  EXPECT_EQ(
      complaint("{\"type\":\"x\"}\n"), "r.jsonl:1 | unknown record type \"x\"");
  EXPECT_EQ(
      complaint(with("\"step\":0", "\"stop\":0")),
      "r.jsonl:2 | no field 'step'");
  EXPECT_EQ(
      complaint(with("\"step\":0", "\"step\":0.5")),
      "r.jsonl:2 | 0.5 for field 'step'");
  EXPECT_EQ(
      complaint(with("\"buckets\":3", "\"buckets\":3000000000")),
      "r.jsonl:2 | 3000000000 for field 'buckets'");
  EXPECT_EQ(
      complaint(with("\"sent_bytes\":843284", "\"sent_bytes\":-1")),
      "r.jsonl:2 | -1 for field 'sent_bytes'");
  EXPECT_EQ(
      complaint(with("\"step_ms\":12.3456", "\"step_ms\":-1")),
      "r.jsonl:2 | -1 for field 'step_ms'");
  EXPECT_EQ(
      complaint(with("\"step_ms\":12.3456", "\"step_ms\":\"nan\"")),
      "r.jsonl:2 | \"nan\" for field 'step_ms'");
}

} // namespace
} // namespace egpurun::jobs
