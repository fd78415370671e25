#include "runtime/training/trainer.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <zlib.h>

#include <chrono>
#include <cmath>
#include <ctime>
#include <optional>
#include <utility>

#include "jobs/record/record_writer.h"
#include "runtime/checkpoints/checkpoint_folder.h"
#include "runtime/training/agreement.h"
#include "runtime/training/device_choice.h"
#include "runtime/training/evaluation.h"
#include "runtime/training/saved_state.h"
#include "runtime/training/tensor_broadcast.h"
#include "runtime/training/train_step.h"
#include "runtime/training/training_job.h"

namespace egpurun::runtime {

namespace {

std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

} // namespace

struct Trainer::State {
  State(
      const jobs::JobSpec& a_spec,
      const RankIdentity& an_identity,
      Communicator& a_communicator,
      TrainObserver* an_observer)
      : spec(a_spec),
        identity(an_identity),
        communicator(a_communicator),
        observer(an_observer) {}

  const jobs::JobSpec& spec;
  const RankIdentity& identity;
  Communicator& communicator;
  TrainObserver* observer;

  std::optional<TrainingJob> job; // once prepared
  std::optional<TrainStep> train_step;
  std::optional<CheckpointFolder> checkpoints; // rank 0 only
  std::optional<jobs::RecordWriter> records;
  std::int64_t step = 0; // steps done
  std::string note; // for the observer, once it may hear it

  bool is_root() const {
    return identity.rank == 0;
  }

  void prepare();
  NamedTensors starting_tensors();
  std::optional<NamedTensors> resume();
  void synchronize_start();
  void announce();
  void after_step(const jobs::StepRecord& record);
  void evaluate_now(std::int64_t epoch);
  void check_parameters();
  void save();
};

void Trainer::State::prepare() {
  job.emplace(prepare_training(spec, identity));
  train_step.emplace(spec, identity, communicator, *job);
  if (is_root() && !spec.checkpoint.folder.empty()) {
    checkpoints.emplace(spec.checkpoint.folder, spec.checkpoint.keep);
  }
  if (!spec.report.folder.empty()) {
    records.emplace(spec.report.folder, identity.rank);
  }
}

// Rank 0: the tensors of the latest checkpoint, and sets `step`.
std::optional<NamedTensors> Trainer::State::resume() {
  if (spec.checkpoint.resume == "never" || !checkpoints) {
    return std::nullopt;
  }
  auto latest = checkpoints->load_latest();
  if (!latest) {
    if (spec.checkpoint.resume == "require") {
      throw Error(
          ErrorKind::kBadInput,
          "resume from a checkpoint (checkpoint.resume = \"require\")",
          fmt::format("no usable one in {}", spec.checkpoint.folder),
          "check checkpoint.folder, or write resume = \"auto\"");
    }
    return std::nullopt;
  }
  step = check_checkpoint(latest->checkpoint, latest->path.string(), spec);
  note =
      fmt::format("resumed after step {} from {}", step, latest->path.string());
  for (const std::string& warning : latest->warnings) {
    note += fmt::format("\nwarning: {}", warning);
  }
  NamedTensors tensors;
  for (const NamedTensor& entry : latest->checkpoint.tensors) {
    tensors.emplace_back(entry.name, entry.tensor);
  }
  return tensors;
}

NamedTensors Trainer::State::starting_tensors() {
  if (std::optional<NamedTensors> saved = resume()) {
    load_state(*saved, *job->model, *job->optimizer);
    return *saved;
  }
  return model_state(*job->model);
}

void Trainer::State::synchronize_start() {
  NamedTensors tensors;
  prepare_together(communicator, identity, [&] {
    if (is_root()) {
      tensors = starting_tensors();
    }
  });
  step = std::stoll(broadcast_text(communicator, std::to_string(step)));
  tensors = broadcast_tensors(communicator, tensors);
  prepare_together(communicator, identity, [&] {
    if (!is_root()) {
      load_state(tensors, *job->model, *job->optimizer);
    }
  });
}

void Trainer::State::announce() {
  std::int64_t parameters = 0;
  for (const at::Tensor& parameter : job->model->parameters()) {
    parameters += parameter.numel();
  }
  const jobs::RunRecord run{
      .job_name = spec.job.name,
      .model = spec.model.name,
      .codec = spec.gradients.codec,
      .device = format_device(job->device),
      .host = identity.host,
      .rank = identity.rank,
      .world_size = identity.world_size,
      .local_rank = identity.local_rank,
      .parameters = parameters,
      .global_batch_size = spec.train.batch_size,
      .first_step = step,
      .started_at = utc_now()};
  if (records) {
    records->write(run);
  }
  if (observer != nullptr) {
    observer->on_start(run, job->total_steps);
    if (!note.empty()) {
      observer->on_note(note);
    }
  }
}

// All ranks see the same loss and stop together, before a checkpoint of a
// diverged model can push out a good one.
void require_finite(const jobs::StepRecord& record) {
  if (!std::isfinite(record.loss)) {
    throw AgreedError(
        ErrorKind::kRun,
        fmt::format("train step {}", record.step),
        fmt::format("the loss became {}", record.loss),
        "lower train.learning_rate or lengthen train.warmup_steps; the "
        "checkpoints of earlier steps are kept");
  }
}

void Trainer::State::after_step(const jobs::StepRecord& record) {
  if (records) {
    records->write(record);
  }
  require_finite(record);
  if (observer != nullptr) {
    observer->on_step(record);
  }
  const bool last = step == job->total_steps;
  const bool epoch_ends = step % job->sampler.steps_per_epoch() == 0;
  const std::int64_t epochs_done = record.epoch + 1;
  const auto due = [&](std::int64_t every, std::int64_t count) {
    return every > 0 && count % every == 0;
  };
  if (last ||
      (epoch_ends && due(spec.train.evaluate_every_epochs, epochs_done))) {
    evaluate_now(record.epoch);
  }
  if (last || due(spec.checkpoint.every_steps, step) ||
      (epoch_ends && due(spec.checkpoint.every_epochs, epochs_done))) {
    save();
  }
}

// Ranks that drift apart would go on training without any other sign.
void Trainer::State::check_parameters() {
  uLong crc = crc32(0, nullptr, 0);
  for (const at::Tensor& parameter : job->model->parameters()) {
    const at::Tensor host = parameter.detach().cpu().contiguous();
    crc =
        crc32_z(crc, static_cast<const Bytef*>(host.data_ptr()), host.nbytes());
  }
  require_equal(
      communicator,
      identity,
      fmt::format("all ranks to hold the same parameters after step {}", step),
      fmt::format("checksum {:08x}", crc),
      "report this; resume from the last checkpoint until it is mended");
}

void Trainer::State::evaluate_now(std::int64_t epoch) {
  const auto begin = std::chrono::steady_clock::now();
  check_parameters();
  synchronize_buffers(*job->model, communicator);
  const EvaluationResult result = evaluate(
      *job->model,
      job->data.test,
      spec.data.image_size,
      job->device,
      communicator);
  const jobs::EvaluationRecord record{
      .epoch = epoch,
      .step = step,
      .loss = result.loss,
      .accuracy = result.accuracy,
      .samples = result.samples,
      .time = std::chrono::steady_clock::now() - begin};
  if (is_root() && records) {
    records->write(record);
  }
  if (observer != nullptr) {
    observer->on_evaluation(record);
  }
}

void Trainer::State::save() {
  if (spec.checkpoint.folder.empty()) {
    return;
  }
  check_parameters();
  synchronize_buffers(*job->model, communicator);
  if (is_root()) {
    checkpoints->save(
        step, make_checkpoint(spec, *job->model, *job->optimizer, step));
  }
}

Trainer::Trainer(
    const jobs::JobSpec& spec,
    const RankIdentity& identity,
    Communicator& communicator,
    TrainObserver* observer)
    : state_(std::make_unique<State>(spec, identity, communicator, observer)) {}

Trainer::~Trainer() = default;

const Model& Trainer::model() const {
  return *state_->job->model;
}

void Trainer::run() {
  State& state = *state_;
  prepare_together(
      state.communicator, state.identity, [&] { state.prepare(); });
  require_equal(
      state.communicator,
      state.identity,
      "all PCs to hold the same data",
      data_fingerprint(state.job->data),
      "copy data.folder from one PC to all others");
  state.synchronize_start();
  state.announce();
  if (state.step >= state.job->total_steps && state.observer != nullptr) {
    state.observer->on_note(fmt::format(
        "nothing to train: step {} of {} is done",
        state.step,
        state.job->total_steps));
  }
  while (state.step < state.job->total_steps) {
    state.after_step(state.train_step->run(state.step++));
  }
}

} // namespace egpurun::runtime
