#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <vector>

#include "jobs/plan/bucket_plan.h"
#include "runtime/codecs/codec.h"
#include "runtime/collectives/communicator.h"

namespace egpurun::runtime {

// Averages gradients over all ranks while backward is still running.
//
// A hook behind each parameter's gradient accumulator copies the gradient,
// times this rank's weight, into its bucket; a full bucket is handed to the
// communication thread. Reduced gradients have the same bits on all ranks.
// All ranks must pass the same parameters in the same order, float32 only
// (else Error). One step at a time; not thread safe.
class GradientReducer {
 public:
  // The codec and the communicator must outlive the reducer.
  GradientReducer(
      std::vector<at::Tensor> parameters,
      const Codec& codec,
      Communicator& communicator,
      const jobs::BucketLimits& limits);
  ~GradientReducer();

  // Before backward. `weight` is this rank's share of the step's samples, 0 to
  // 1; the weights of all ranks add up to 1.
  void begin_step(double weight);
  // After backward: parameters that got no gradient count as zero. Waits for
  // one bucket after the other and calls `use` for each while later ones are
  // still under way; only that bucket's parameters have a .grad then, a view of
  // the reduced bucket. Throws what the communication thread threw.
  void finish_step(const std::function<void()>& use);

  Bytes gradient_bytes() const; // of one step, uncompressed
  int bucket_count() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

} // namespace egpurun::runtime
