#include "runtime/training/train_step.h"

#include <ATen/Context.h>
#include <ATen/Functions.h>

#include <array>
#include <chrono>
#include <utility>

#include "runtime/collectives/control.h"
#include "runtime/data/batch.h"
#include "runtime/data/random_numbers.h"
#include "runtime/training/learning_rate.h"

namespace egpurun::runtime {

namespace {

// Time since the last call, for the parts of a step.
class LapClock {
 public:
  Seconds lap() {
    const auto now = std::chrono::steady_clock::now();
    return Seconds(now - std::exchange(last_, now));
  }

 private:
  std::chrono::steady_clock::time_point last_ =
      std::chrono::steady_clock::now();
};

Bytes kibibytes(std::int64_t count) {
  return {static_cast<std::uint64_t>(count) * 1024};
}

} // namespace

TrainStep::TrainStep(
    const jobs::JobSpec& spec,
    const RankIdentity& identity,
    Communicator& communicator,
    TrainingJob& job)
    : spec_(spec),
      identity_(identity),
      communicator_(communicator),
      job_(job),
      losses_(kLossTag, 1) {
  if (identity.world_size > 1) {
    reducer_ = std::make_unique<GradientReducer>(
        job.model->parameters(),
        *job.codec,
        communicator,
        jobs::BucketLimits{
            .first = kibibytes(spec.gradients.first_bucket_kib),
            .others = kibibytes(spec.gradients.bucket_kib)});
  }
}

jobs::StepRecord TrainStep::run(std::int64_t step) {
  const Seconds busy_before = communicator_.busy_time();
  const TransportCounters before = communicator_.counters();
  LapClock whole;
  const std::int64_t per_epoch = job_.sampler.steps_per_epoch();
  jobs::StepRecord record;
  record.step = step;
  record.epoch = step / per_epoch;
  const std::vector<std::int64_t> indices =
      job_.sampler.indices(record.epoch, step % per_epoch);
  record.samples = static_cast<std::int64_t>(indices.size());
  record.global_samples = job_.sampler.global_count(step % per_epoch);

  begin(record);
  train_on(indices, record);
  update_parameters(record);
  LapClock clock;
  record.loss = finish_loss_exchange(record.global_samples);
  record.exposed_time += clock.lap();

  record.step_time = whole.lap();
  record.communication_time = communicator_.busy_time() - busy_before;
  const TransportCounters after = communicator_.counters();
  record.sent_bytes = Bytes{after.sent.count - before.sent.count};
  record.received_bytes = Bytes{after.received.count - before.received.count};
  return record;
}

void TrainStep::begin(jobs::StepRecord& record) {
  record.learning_rate =
      learning_rate_at(spec_.train, record.step, job_.total_steps);
  // Every step is seeded anew: a resumed run draws the same dropout masks as
  // one that never stopped, without any generator state in the checkpoint.
  at::manual_seed(stream_seed(
      stream_seed(
          static_cast<std::uint64_t>(spec_.job.seed),
          static_cast<std::uint64_t>(record.step)),
      static_cast<std::uint64_t>(identity_.rank)));
  if (reducer_ == nullptr) {
    job_.optimizer->zero_grad();
    return;
  }
  reducer_->begin_step(
      static_cast<double>(record.samples) /
      static_cast<double>(record.global_samples));
  record.gradient_bytes = reducer_->gradient_bytes();
  record.buckets = reducer_->bucket_count();
}

// Forward and backward over this rank's samples; starts the loss exchange.
void TrainStep::train_on(
    const std::vector<std::int64_t>& indices,
    jobs::StepRecord& record) {
  LapClock clock;
  const Batch batch =
      make_batch(job_.data.train, indices, spec_.data.image_size);
  const at::Tensor images = batch.images.to(job_.device);
  const at::Tensor labels = batch.labels.to(job_.device);
  record.data_time = clock.lap();
  if (indices.empty()) {
    start_loss_exchange(0, 0);
    return;
  }
  const at::Tensor loss =
      at::cross_entropy_loss(job_.model->forward(images), labels);
  start_loss_exchange(loss.item<double>(), record.samples);
  record.forward_time = clock.lap();
  loss.backward();
  record.backward_time = clock.lap();
}

// The optimizer works on one bucket while later ones are still under way.
void TrainStep::update_parameters(jobs::StepRecord& record) {
  LapClock clock;
  set_learning_rate(*job_.optimizer, record.learning_rate);
  if (reducer_ == nullptr) {
    job_.optimizer->step();
    record.optimizer_time = clock.lap();
    return;
  }
  reducer_->finish_step([&] {
    record.exposed_time += clock.lap();
    job_.optimizer->step();
    record.optimizer_time += clock.lap();
  });
}

// The losses travel while backward runs.
void TrainStep::start_loss_exchange(double loss, std::int64_t samples) {
  losses_.set(std::array{loss * static_cast<double>(samples)});
  communicator_.start(losses_);
}

// Mean over all ranks' samples; the same bits on every rank.
double TrainStep::finish_loss_exchange(std::int64_t global_samples) {
  communicator_.wait(losses_);
  double sum = 0;
  for (int rank = 0; rank < identity_.world_size; ++rank) {
    sum += losses_.of_rank(rank)[0];
  }
  return sum / static_cast<double>(global_samples);
}

} // namespace egpurun::runtime
