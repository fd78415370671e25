#pragma once

#include <memory>

#include "jobs/spec/job_spec.h"
#include "runtime/collectives/communicator.h"
#include "runtime/models/model.h"
#include "runtime/training/observer.h"
#include "runtime/training/rank_identity.h"

namespace egpurun::runtime {

// Trains the job's model on this rank, together with all other ranks of the
// communicator. Every rank makes one with the same spec.
//
// The observer (may be null) hears of this rank's steps. Throws AgreedError
// when all ranks stop for the same reason, Error or a torch exception when
// only this rank fails; the process must then end without waiting for others.
class Trainer {
 public:
  Trainer(
      const jobs::JobSpec& spec,
      const RankIdentity& identity,
      Communicator& communicator,
      TrainObserver* observer);
  ~Trainer();

  // Trains from the start or the latest checkpoint to the end of the job.
  void run();

  // The network as trained so far; run() must have been called.
  const Model& model() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace egpurun::runtime
