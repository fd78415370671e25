#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "jobs/spec/job_spec.h"

namespace egpurun::runtime {

// One course of the learning rate after warm-up. `factor` maps the share of
// steps done, in [0, 1], to the share of train.learning_rate to use.
struct ScheduleRow {
  std::string_view name;
  std::string_view description;
  double (*factor)(double done);
};

std::span<const ScheduleRow> schedule_table();

// The rate for `step` (from 0) of `total_steps`. Warm-up: step s of the first
// train.warmup_steps uses (s + 1) / warmup_steps of the rate. Throws kBadInput
// for an unknown train.schedule. Uses no libm, so that all ranks get the same
// bits, whatever C library and CPU their PC has.
double learning_rate_at(
    const jobs::TrainSection& train,
    std::int64_t step,
    std::int64_t total_steps);

} // namespace egpurun::runtime
