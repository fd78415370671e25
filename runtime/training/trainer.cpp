#include "runtime/training/trainer.h"

#include <ATen/Context.h>
#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <chrono>
#include <ctime>
#include <mutex>
#include <optional>
#include <utility>

#include "jobs/record/record_writer.h"
#include "runtime/checkpoints/checkpoint_folder.h"
#include "runtime/codecs/codec_table.h"
#include "runtime/collectives/control.h"
#include "runtime/collectives/number_all_gather.h"
#include "runtime/data/batch.h"
#include "runtime/data/dataset_table.h"
#include "runtime/data/random_numbers.h"
#include "runtime/data/sampler.h"
#include "runtime/gradients/gradient_reducer.h"
#include "runtime/models/model_table.h"
#include "runtime/training/agreement.h"
#include "runtime/training/device_choice.h"
#include "runtime/training/evaluation.h"
#include "runtime/training/learning_rate.h"
#include "runtime/training/optimizer_table.h"
#include "runtime/training/saved_state.h"
#include "runtime/training/tensor_broadcast.h"

namespace egpurun::runtime {

namespace {

using Clock = std::chrono::steady_clock;

// Time since the last call, for the parts of a step.
class LapClock {
 public:
  Seconds lap() {
    const auto now = Clock::now();
    return Seconds(now - std::exchange(last_, now));
  }

 private:
  Clock::time_point last_ = Clock::now();
};

std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

// What must be the same on all PCs for the job to make sense.
std::string fingerprint(const DatasetPair& data) {
  uLong crc = crc32(0, nullptr, 0);
  for (const ImageDataset* part : {&data.train, &data.test}) {
    crc = crc32_z(crc, part->pixels.data(), part->pixels.size());
    crc = crc32_z(crc, part->labels.data(), part->labels.size());
  }
  return fmt::format(
      "{} + {} samples with checksum {:08x}",
      data.train.count,
      data.test.count,
      crc);
}

// The first weights, the same for the same seed. torch's default generator is
// one for the process, which may hold several ranks.
std::shared_ptr<Model> seeded_model(
    const jobs::JobSpec& spec,
    std::int64_t classes) {
  static std::mutex generator_in_use;
  const std::lock_guard lock(generator_in_use);
  at::manual_seed(static_cast<std::uint64_t>(spec.job.seed));
  return make_model(spec.model, spec.data.image_size, classes);
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

  at::Device device{at::kCPU};
  DatasetPair data;
  std::optional<ShardedSampler> sampler;
  std::shared_ptr<Model> model;
  std::unique_ptr<torch::optim::Optimizer> optimizer;
  std::unique_ptr<Codec> codec;
  std::unique_ptr<GradientReducer> reducer; // null with one rank
  std::optional<CheckpointFolder> checkpoints; // rank 0 only
  std::optional<jobs::RecordWriter> records;
  NumberAllGather losses{kLossTag, 1};
  std::int64_t total_steps = 0;
  std::int64_t step = 0; // steps done
  std::string note; // for the observer, once it may hear it

  bool is_root() const {
    return identity.rank == 0;
  }
  std::int64_t epoch_of(std::int64_t a_step) const {
    return a_step / sampler->steps_per_epoch();
  }

  void prepare();
  NamedTensors starting_tensors();
  std::optional<NamedTensors> resume();
  void synchronize_start();
  void announce();
  jobs::StepRecord train_step();
  void train_on(
      const std::vector<std::int64_t>& indices,
      jobs::StepRecord& record);
  void start_loss_exchange(double loss, std::int64_t samples);
  double finish_loss_exchange(std::int64_t global_samples);
  void update_parameters(jobs::StepRecord& record);
  void after_step(const jobs::StepRecord& record);
  void evaluate_now(std::int64_t epoch);
  void check_parameters();
  void save();
};

void Trainer::State::prepare() {
  device = choose_device(spec.train, identity);
  at::set_num_threads(choose_threads(spec.train, identity));
  check_batch_size(spec.train.batch_size, identity.world_size);
  data = load_dataset(spec.data);
  sampler.emplace(
      data.train.count,
      spec.train.batch_size,
      identity.world_size,
      identity.rank,
      static_cast<std::uint64_t>(spec.job.seed),
      spec.data.shuffle);
  total_steps = spec.train.epochs * sampler->steps_per_epoch();
  if (spec.train.max_steps > 0) {
    total_steps = std::min(total_steps, spec.train.max_steps);
  }
  learning_rate_at(spec.train, 0, total_steps); // reports an unknown schedule
  model = seeded_model(spec, data.train.classes);
  model->to(device);
  model->train();
  optimizer = make_optimizer(model->parameters(), spec.train);
  codec = make_codec(spec.gradients.codec);
  if (identity.world_size > 1) {
    reducer = std::make_unique<GradientReducer>(
        model->parameters(),
        *codec,
        communicator,
        jobs::BucketLimits{
            .first = Bytes{static_cast<std::uint64_t>(
                spec.gradients.first_bucket_kib * 1024)},
            .others = Bytes{
                static_cast<std::uint64_t>(spec.gradients.bucket_kib * 1024)}});
  }
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
    load_state(*saved, *model, *optimizer);
    return *saved;
  }
  return model_state(*model);
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
      load_state(tensors, *model, *optimizer);
    }
  });
}

void Trainer::State::announce() {
  std::int64_t parameters = 0;
  for (const at::Tensor& parameter : model->parameters()) {
    parameters += parameter.numel();
  }
  const jobs::RunRecord run{
      .job_name = spec.job.name,
      .model = spec.model.name,
      .codec = spec.gradients.codec,
      .device = format_device(device),
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
    observer->on_start(run, total_steps);
    if (!note.empty()) {
      observer->on_note(note);
    }
  }
}

// Forward and backward over this rank's samples; starts the loss exchange.
void Trainer::State::train_on(
    const std::vector<std::int64_t>& indices,
    jobs::StepRecord& record) {
  LapClock clock;
  const Batch batch = make_batch(data.train, indices, spec.data.image_size);
  const at::Tensor images = batch.images.to(device);
  const at::Tensor labels = batch.labels.to(device);
  record.data_time = clock.lap();
  if (indices.empty()) {
    start_loss_exchange(0, 0);
    return;
  }
  const at::Tensor loss =
      at::cross_entropy_loss(model->forward(images), labels);
  start_loss_exchange(loss.item<double>(), record.samples);
  record.forward_time = clock.lap();
  if (reducer == nullptr) {
    optimizer->zero_grad();
  }
  loss.backward();
  record.backward_time = clock.lap();
}

// The losses travel while backward runs.
void Trainer::State::start_loss_exchange(double loss, std::int64_t samples) {
  losses.set(std::array{loss * static_cast<double>(samples)});
  communicator.start(losses);
}

// Mean over all ranks' samples; the same bits on every rank.
double Trainer::State::finish_loss_exchange(std::int64_t global_samples) {
  communicator.wait(losses);
  double sum = 0;
  for (int rank = 0; rank < identity.world_size; ++rank) {
    sum += losses.of_rank(rank)[0];
  }
  return sum / static_cast<double>(global_samples);
}

// The optimizer works on one bucket while later ones are still under way.
void Trainer::State::update_parameters(jobs::StepRecord& record) {
  LapClock clock;
  set_learning_rate(*optimizer, record.learning_rate);
  if (reducer == nullptr) {
    optimizer->step();
    record.optimizer_time = clock.lap();
    return;
  }
  reducer->finish_step([&] {
    record.exposed_time += clock.lap();
    optimizer->step();
    record.optimizer_time += clock.lap();
  });
  record.gradient_bytes = reducer->gradient_bytes();
  record.buckets = reducer->bucket_count();
}

jobs::StepRecord Trainer::State::train_step() {
  const Seconds busy_before = communicator.busy_time();
  const TransportCounters before = communicator.counters();
  LapClock whole;
  const std::int64_t epoch = epoch_of(step);
  const std::int64_t step_in_epoch = step % sampler->steps_per_epoch();
  const std::vector<std::int64_t> indices =
      sampler->indices(epoch, step_in_epoch);
  jobs::StepRecord record;
  record.epoch = epoch;
  record.step = step;
  record.samples = static_cast<std::int64_t>(indices.size());
  record.global_samples = sampler->global_count(step_in_epoch);
  record.learning_rate = learning_rate_at(spec.train, step, total_steps);
  // Every step is seeded anew: a resumed run draws the same dropout masks as
  // one that never stopped, without any generator state in the checkpoint.
  at::manual_seed(stream_seed(
      stream_seed(
          static_cast<std::uint64_t>(spec.job.seed),
          static_cast<std::uint64_t>(step)),
      static_cast<std::uint64_t>(identity.rank)));

  if (reducer != nullptr) {
    reducer->begin_step(
        static_cast<double>(record.samples) /
        static_cast<double>(record.global_samples));
  }
  train_on(indices, record);
  update_parameters(record);
  LapClock clock;
  record.loss = finish_loss_exchange(record.global_samples);
  record.exposed_time += clock.lap();

  record.step_time = whole.lap();
  record.communication_time = communicator.busy_time() - busy_before;
  const TransportCounters after = communicator.counters();
  record.sent_bytes = Bytes{after.sent.count - before.sent.count};
  record.received_bytes = Bytes{after.received.count - before.received.count};
  ++step;
  return record;
}

void Trainer::State::after_step(const jobs::StepRecord& record) {
  if (records) {
    records->write(record);
  }
  if (observer != nullptr) {
    observer->on_step(record);
  }
  const bool last = step == total_steps;
  const bool epoch_ends = step % sampler->steps_per_epoch() == 0;
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
  for (const at::Tensor& parameter : model->parameters()) {
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
  LapClock clock;
  check_parameters();
  synchronize_buffers(*model, communicator);
  const EvaluationResult result =
      evaluate(*model, data.test, spec.data.image_size, device, communicator);
  const jobs::EvaluationRecord record{
      .epoch = epoch,
      .step = step,
      .loss = result.loss,
      .accuracy = result.accuracy,
      .samples = result.samples,
      .time = clock.lap()};
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
  synchronize_buffers(*model, communicator);
  if (is_root()) {
    checkpoints->save(step, make_checkpoint(spec, *model, *optimizer, step));
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
  return *state_->model;
}

void Trainer::run() {
  State& state = *state_;
  prepare_together(
      state.communicator, state.identity, [&] { state.prepare(); });
  require_equal(
      state.communicator,
      state.identity,
      "all PCs to hold the same data",
      fingerprint(state.data),
      "copy data.folder from one PC to all others");
  state.synchronize_start();
  state.announce();
  if (state.step >= state.total_steps && state.observer != nullptr) {
    state.observer->on_note(fmt::format(
        "nothing to train: step {} of {} is done",
        state.step,
        state.total_steps));
  }
  while (state.step < state.total_steps) {
    state.after_step(state.train_step());
  }
}

} // namespace egpurun::runtime
