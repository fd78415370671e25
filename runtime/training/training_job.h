#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>

#include "jobs/spec/job_spec.h"
#include "runtime/codecs/codec.h"
#include "runtime/data/dataset.h"
#include "runtime/data/sampler.h"
#include "runtime/models/model.h"
#include "runtime/training/optimizer_table.h"
#include "runtime/training/rank_identity.h"

namespace egpurun::runtime {

// What one rank trains and with what, as its job file asks.
struct TrainingJob {
  at::Device device;
  DatasetPair data;
  ShardedSampler sampler;
  std::int64_t total_steps = 0; // of the whole job, over all epochs
  std::shared_ptr<Model> model; // on the device, with the seed's first weights
  std::unique_ptr<torch::optim::Optimizer> optimizer;
  std::unique_ptr<Codec> codec;
};

// Loads and builds everything, on this rank alone. Sets torch's number of
// threads. Throws Error for whatever the job file asks that is not there.
TrainingJob prepare_training(
    const jobs::JobSpec& spec,
    const RankIdentity& identity);

// A line that is equal on all PCs if they hold the same data.
std::string data_fingerprint(const DatasetPair& data);

} // namespace egpurun::runtime
