#pragma once

#include <string>

#include "jobs/record/step_record.h"

namespace egpurun::runtime {

// What the trainer tells about its progress, on its own thread.
class TrainObserver {
 public:
  virtual ~TrainObserver() = default;

  virtual void on_start(
      const jobs::RunRecord& run,
      std::int64_t total_steps) = 0;
  virtual void on_step(const jobs::StepRecord& step) = 0;
  virtual void on_evaluation(const jobs::EvaluationRecord& evaluation) = 0;
  // Something worth knowing that is no error, for example a resume.
  virtual void on_note(const std::string& note) = 0;
};

} // namespace egpurun::runtime
