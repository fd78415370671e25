#pragma once

#include <memory>
#include <vector>

#include "jobs/record/step_record.h"
#include "runtime/collectives/communicator.h"
#include "runtime/collectives/number_all_gather.h"
#include "runtime/gradients/gradient_reducer.h"
#include "runtime/training/training_job.h"

namespace egpurun::runtime {

// One training step after the other, timed part by part. All ranks run the
// same steps. The arguments of the constructor must outlive it.
class TrainStep {
 public:
  TrainStep(
      const jobs::JobSpec& spec,
      const RankIdentity& identity,
      Communicator& communicator,
      TrainingJob& job);

  // Trains step number `step` (0-based, over all epochs); what it did and how
  // long it took.
  jobs::StepRecord run(std::int64_t step);

 private:
  void begin(jobs::StepRecord& record);
  void train_on(
      const std::vector<std::int64_t>& indices,
      jobs::StepRecord& record);
  void update_parameters(jobs::StepRecord& record);
  void start_loss_exchange(double loss, std::int64_t samples);
  double finish_loss_exchange(std::int64_t global_samples);

  const jobs::JobSpec& spec_;
  const RankIdentity& identity_;
  Communicator& communicator_;
  TrainingJob& job_;
  std::unique_ptr<GradientReducer> reducer_; // null with one rank
  NumberAllGather losses_;
};

} // namespace egpurun::runtime
