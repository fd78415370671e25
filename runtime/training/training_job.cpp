#include "runtime/training/training_job.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "runtime/codecs/codec_table.h"
#include "runtime/data/dataset_table.h"
#include "runtime/models/model_table.h"
#include "runtime/training/device_choice.h"
#include "runtime/training/learning_rate.h"

namespace egpurun::runtime {

namespace {

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

std::int64_t count_steps(
    const jobs::TrainSection& train,
    std::int64_t steps_per_epoch) {
  const std::int64_t steps = train.epochs * steps_per_epoch;
  return train.max_steps > 0 ? std::min(steps, train.max_steps) : steps;
}

} // namespace

TrainingJob prepare_training(
    const jobs::JobSpec& spec,
    const RankIdentity& identity) {
  const at::Device device = choose_device(spec.train, identity);
  at::set_num_threads(choose_threads(spec.train, identity));
  check_batch_size(spec.train.batch_size, identity.world_size);
  DatasetPair data = load_dataset(spec.data);
  ShardedSampler sampler(
      data.train.count,
      spec.train.batch_size,
      identity.world_size,
      identity.rank,
      static_cast<std::uint64_t>(spec.job.seed),
      spec.data.shuffle);
  const std::int64_t total_steps =
      count_steps(spec.train, sampler.steps_per_epoch());
  learning_rate_at(spec.train, 0, total_steps); // reports an unknown schedule
  std::shared_ptr<Model> model = seeded_model(spec, data.train.classes);
  model->to(device);
  model->train();
  auto optimizer = make_optimizer(model->parameters(), spec.train);
  return {
      .device = device,
      .data = std::move(data),
      .sampler = std::move(sampler),
      .total_steps = total_steps,
      .model = std::move(model),
      .optimizer = std::move(optimizer),
      .codec = make_codec(spec.gradients.codec)};
}

std::string data_fingerprint(const DatasetPair& data) {
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

} // namespace egpurun::runtime
