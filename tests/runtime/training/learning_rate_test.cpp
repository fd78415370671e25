#include "runtime/training/learning_rate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "topology/error.h"

namespace egpurun::runtime {
namespace {

jobs::TrainSection section(const char* schedule, std::int64_t warmup_steps) {
  jobs::TrainSection train;
  train.schedule = schedule;
  train.warmup_steps = warmup_steps;
  train.learning_rate = 0.4;
  return train;
}

TEST(LearningRate, ConstantStaysAfterWarmUp) {
  const auto train = section("constant", 4);
  EXPECT_DOUBLE_EQ(learning_rate_at(train, 0, 100), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate_at(train, 2, 100), 0.3);
  EXPECT_EQ(learning_rate_at(train, 3, 100), 0.4);
  EXPECT_EQ(learning_rate_at(train, 4, 100), 0.4);
  EXPECT_EQ(learning_rate_at(train, 99, 100), 0.4);
}

TEST(LearningRate, CosineFollowsTheFormula) {
  const auto train = section("cosine", 10);
  for (std::int64_t step = 10; step <= 110; ++step) {
    const double done = static_cast<double>(step - 10) / 100;
    EXPECT_NEAR(
        learning_rate_at(train, step, 110),
        0.2 * (1 + std::cos(std::numbers::pi * done)),
        1e-15)
        << step;
  }
  EXPECT_EQ(learning_rate_at(train, 10, 110), 0.4);
  EXPECT_DOUBLE_EQ(learning_rate_at(train, 60, 110), 0.2);
  EXPECT_EQ(learning_rate_at(train, 110, 110), 0);
}

TEST(LearningRate, CosineNeverRises) {
  const auto train = section("cosine", 0);
  for (std::int64_t step = 1; step < 1000; ++step) {
    EXPECT_LT(
        learning_rate_at(train, step, 1000),
        learning_rate_at(train, step - 1, 1000));
  }
}

TEST(LearningRate, ShortRunsAreWithinWarmUpOrAtTheEnd) {
  const auto train = section("cosine", 10);
  EXPECT_DOUBLE_EQ(learning_rate_at(train, 4, 5), 0.2);
  EXPECT_EQ(learning_rate_at(train, 12, 10), 0); // past the end
  EXPECT_EQ(learning_rate_at(section("cosine", 0), 0, 0), 0.4);
}

TEST(LearningRate, UnknownScheduleIsAnError) {
  try {
    learning_rate_at(section("cosin", 0), 0, 1);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    EXPECT_NE(error.advice().find("cosine"), std::string::npos);
  }
}

} // namespace
} // namespace egpurun::runtime
