#include "runtime/training/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "topology/printable_text.h"

namespace egpurun::runtime {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kLivePeriod = std::chrono::milliseconds(200);
constexpr auto kLinePeriod = std::chrono::seconds(5);
// Weight of a new step in the running averages.
constexpr double kSmoothing = 0.1;

std::string format_duration(Seconds time) {
  const auto seconds = static_cast<std::int64_t>(time.count() + 0.5);
  if (seconds >= 3600) {
    return fmt::format(
        "{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
  }
  return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
}

class ProgressPrinter : public TrainObserver {
 public:
  ProgressPrinter(ProgressStyle style, std::ostream& out)
      : style_(style), out_(out) {}

  void on_start(const jobs::RunRecord& run, std::int64_t total_steps) override {
    state_.total_steps = total_steps;
    print_line(fmt::format(
        "{}: {} on {} rank{}, {:.2f} M parameters, batch {}, codec {}, {}",
        topology::printable_text(run.job_name),
        run.model,
        run.world_size,
        run.world_size == 1 ? "" : "s",
        static_cast<double>(run.parameters) / 1e6,
        run.global_batch_size,
        run.codec,
        run.device));
  }

  void on_step(const jobs::StepRecord& step) override {
    average(step_seconds_, step.step_time.count());
    average(exposed_seconds_, step.exposed_time.count());
    average(samples_, static_cast<double>(step.global_samples));
    started_ = true;
    state_.epoch = step.epoch;
    state_.step = step.step + 1;
    state_.loss = step.loss;
    state_.samples_per_second = samples_ / std::max(step_seconds_, 1e-9);
    state_.exposed_share = exposed_seconds_ / std::max(step_seconds_, 1e-9);
    state_.time_left = Seconds(
        step_seconds_ * static_cast<double>(state_.total_steps - state_.step));
    show();
  }

  void on_evaluation(const jobs::EvaluationRecord& evaluation) override {
    print_line(fmt::format(
        "epoch {}  step {}  test loss {:.4f}  test accuracy {:.2f} %  "
        "({} samples in {:.1f} s)",
        evaluation.epoch + 1,
        evaluation.step,
        evaluation.loss,
        evaluation.accuracy * 100,
        evaluation.samples,
        evaluation.time.count()));
  }

  void on_note(const std::string& note) override {
    print_line(note);
  }

 private:
  void average(double& mean, double value) const {
    mean = started_ ? mean + kSmoothing * (value - mean) : value;
  }

  void show() {
    if (style_ == ProgressStyle::kQuiet) {
      return;
    }
    const bool live = style_ == ProgressStyle::kLive;
    const auto now = Clock::now();
    const Clock::duration period =
        live ? Clock::duration(kLivePeriod) : Clock::duration(kLinePeriod);
    const bool last = state_.step == state_.total_steps;
    if (!last && now - shown_ < period) {
      return;
    }
    shown_ = now;
    if (live) {
      // Back to the line's start, text, and erase what is left of the old one.
      out_ << '\r' << format_progress(state_) << "\x1b[K" << std::flush;
      line_open_ = true;
    } else {
      out_ << format_progress(state_) << std::endl;
    }
  }

  void print_line(const std::string& line) {
    if (line_open_) {
      out_ << '\n';
      line_open_ = false;
    }
    out_ << line << std::endl;
  }

  ProgressStyle style_;
  std::ostream& out_;
  ProgressState state_;
  double step_seconds_ = 0;
  double exposed_seconds_ = 0;
  double samples_ = 0;
  bool started_ = false;
  bool line_open_ = false;
  Clock::time_point shown_;
};

} // namespace

std::string format_progress(const ProgressState& state) {
  return fmt::format(
      "epoch {}  step {}/{}  loss {:.4f}  {:.0f} samples/s  {:.0f} % waiting"
      "  {} left",
      state.epoch + 1,
      state.step,
      state.total_steps,
      state.loss,
      state.samples_per_second,
      state.exposed_share * 100,
      format_duration(state.time_left));
}

std::unique_ptr<TrainObserver> make_progress_printer(
    ProgressStyle style,
    std::ostream& out) {
  return std::make_unique<ProgressPrinter>(style, out);
}

} // namespace egpurun::runtime
