#include "runtime/training/progress.h"

#include <gtest/gtest.h>

#include <sstream>

namespace egpurun::runtime {
namespace {

jobs::StepRecord step_record(std::int64_t step) {
  jobs::StepRecord record;
  record.epoch = 0;
  record.step = step;
  record.step_time = Seconds(0.5);
  record.exposed_time = Seconds(0.125);
  record.global_samples = 64;
  record.loss = 1.25;
  return record;
}

std::string printed(ProgressStyle style) {
  std::ostringstream out;
  const auto printer = make_progress_printer(style, out);
  jobs::RunRecord run;
  run.job_name = "demo";
  run.model = "cnn";
  run.world_size = 2;
  printer->on_start(run, 10);
  for (std::int64_t step = 0; step < 10; ++step) {
    printer->on_step(step_record(step));
  }
  jobs::EvaluationRecord evaluation;
  evaluation.accuracy = 0.9;
  printer->on_evaluation(evaluation);
  return out.str();
}

TEST(Progress, LineHasEveryPart) {
  const ProgressState state{
      .epoch = 1,
      .step = 120,
      .total_steps = 938,
      .loss = 0.53214,
      .samples_per_second = 3456.4,
      .exposed_share = 0.123,
      .time_left = Seconds(3725)};
  EXPECT_EQ(
      format_progress(state),
      "epoch 2  step 120/938  loss 0.5321  3456 samples/s  12 % waiting  "
      "1:02:05 left");
}

TEST(Progress, QuietTellsStartAndEvaluationOnly) {
  const std::string text = printed(ProgressStyle::kQuiet);
  EXPECT_NE(text.find("demo: cnn on 2 ranks"), std::string::npos);
  EXPECT_NE(text.find("90.00 %"), std::string::npos);
  EXPECT_EQ(text.find("samples/s"), std::string::npos);
}

TEST(Progress, LinesEndAndHaveNoControlCharacters) {
  const std::string text = printed(ProgressStyle::kLines);
  EXPECT_NE(text.find("step 10/10"), std::string::npos);
  EXPECT_NE(
      text.find("128 samples/s  25 % waiting  0:00 left\n"), std::string::npos);
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(Progress, LiveRewritesOneLineAndLeavesItBeforeOthers) {
  const std::string text = printed(ProgressStyle::kLive);
  EXPECT_NE(text.find("\repoch 1  step 10/10"), std::string::npos);
  EXPECT_NE(text.find("\x1b[K\nepoch 1  step 0  test loss"), std::string::npos);
}

} // namespace
} // namespace egpurun::runtime
