#include "runtime/training/start_export.h"

#include <ATen/Context.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <vector>

#include "runtime/checkpoints/checkpoint_file.h"
#include "runtime/data/dataset_table.h"
#include "runtime/data/sampler.h"
#include "runtime/models/model_table.h"
#include "runtime/training/saved_state.h"
#include "topology/error.h"

namespace egpurun::runtime {

namespace {

void write_order(
    const jobs::JobSpec& spec,
    std::int64_t samples,
    const std::filesystem::path& path) {
  ShardedSampler sampler(
      samples,
      spec.train.batch_size,
      1,
      0,
      static_cast<std::uint64_t>(spec.job.seed),
      spec.data.shuffle);
  const std::int64_t per_epoch = sampler.steps_per_epoch();
  std::int64_t steps = spec.train.epochs * per_epoch;
  if (spec.train.max_steps > 0) {
    steps = std::min(steps, spec.train.max_steps);
  }
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  for (std::int64_t step = 0; step < steps; ++step) {
    const auto indices = sampler.indices(step / per_epoch, step % per_epoch);
    if (static_cast<std::int64_t>(indices.size()) != spec.train.batch_size) {
      throw Error(
          ErrorKind::kBadInput,
          "export the order of samples as an array",
          fmt::format(
              "step {} has {} samples instead of {}",
              step,
              indices.size(),
              spec.train.batch_size),
          "set data.train_samples to a multiple of train.batch_size");
    }
    const std::vector<std::int32_t> row(indices.begin(), indices.end());
    file.write(
        reinterpret_cast<const char*>(row.data()),
        static_cast<std::streamsize>(row.size() * sizeof(std::int32_t)));
  }
  file.close();
  if (!file) {
    throw Error(
        ErrorKind::kEnvironment,
        "write the order of samples",
        topology::errno_text(errno),
        "free some space or choose another folder",
        {.host = {},
         .rank = {},
         .path = path.string(),
         .line = 0,
         .column = 0});
  }
}

} // namespace

void export_start(
    const jobs::JobSpec& spec,
    const std::filesystem::path& folder) {
  const DatasetPair data = load_dataset(spec.data);
  at::manual_seed(static_cast<std::uint64_t>(spec.job.seed));
  const auto model =
      make_model(spec.model, spec.data.image_size, data.train.classes);
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  Checkpoint checkpoint;
  for (auto& [name, tensor] : model_state(*model)) {
    checkpoint.tensors.push_back({name, tensor});
  }
  write_checkpoint_file(folder / "start.safetensors", checkpoint);
  write_order(spec, data.train.count, folder / "order.i32");
}

} // namespace egpurun::runtime
