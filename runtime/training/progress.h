#pragma once

#include <chrono>
#include <iosfwd>
#include <memory>
#include <string>

#include "runtime/training/observer.h"

namespace egpurun::runtime {

// How much to say while training.
enum class ProgressStyle {
  kQuiet, // notes, and a line per evaluation
  kLines, // also a line every few seconds, for log files
  kLive, // also one line that is rewritten in place, for terminals
};

// What one progress line tells; times are averages over the last steps.
struct ProgressState {
  std::int64_t epoch = 0; // 0-based
  std::int64_t step = 0; // steps done
  std::int64_t total_steps = 0;
  double loss = 0;
  double samples_per_second = 0; // of all ranks
  double exposed_share = 0; // of the step time, 0 to 1
  Seconds time_left{0};
};

// "epoch 1  step 120/938  loss 0.5321  3456 samples/s  12% waiting  0:45 left"
std::string format_progress(const ProgressState& state);

// Prints rank 0's progress to `out`, which must outlive it.
std::unique_ptr<TrainObserver> make_progress_printer(
    ProgressStyle style,
    std::ostream& out);

} // namespace egpurun::runtime
