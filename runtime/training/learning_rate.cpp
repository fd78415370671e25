#include "runtime/training/learning_rate.h"

#include <algorithm>
#include <array>
#include <numbers>

#include "runtime/data/named_row.h"

namespace egpurun::runtime {
namespace {

// cos(x) for |x| <= pi / 2 by its Taylor series up to x^22 / 22!, in Horner
// form; the next term is below 1e-18.
double cosine_near_zero(double x) {
  const double square = x * x;
  double sum = 1;
  for (int k = 22; k > 0; k -= 2) {
    sum = 1 - sum * square / (k * (k - 1));
  }
  return sum;
}

double constant(double) {
  return 1;
}

// (1 + cos(pi * done)) / 2 (Loshchilov and Hutter 2016, without restarts).
double half_cosine(double done) {
  const double cosine = done <= 0.5
      ? cosine_near_zero(std::numbers::pi * done)
      : -cosine_near_zero(std::numbers::pi * (1 - done));
  return (1 + cosine) / 2;
}

constexpr std::array kSchedules{
    ScheduleRow{"constant", "the same rate to the end", constant},
    ScheduleRow{"cosine", "falls to 0 along half a cosine", half_cosine},
};

} // namespace

std::span<const ScheduleRow> schedule_table() {
  return kSchedules;
}

double learning_rate_at(
    const jobs::TrainSection& train,
    std::int64_t step,
    std::int64_t total_steps) {
  const ScheduleRow& schedule =
      row_named(schedule_table(), "train.schedule", train.schedule);
  if (step < train.warmup_steps) {
    return train.learning_rate * static_cast<double>(step + 1) /
        static_cast<double>(train.warmup_steps);
  }
  const std::int64_t steps =
      std::max<std::int64_t>(1, total_steps - train.warmup_steps);
  const double done = static_cast<double>(step - train.warmup_steps) /
      static_cast<double>(steps);
  return train.learning_rate * schedule.factor(std::min(done, 1.0));
}

} // namespace egpurun::runtime
