#pragma once

#include <ATen/core/Tensor.h>

#include "runtime/collectives/communicator.h"
#include "runtime/data/dataset.h"
#include "runtime/models/model.h"

namespace egpurun::runtime {

struct EvaluationResult {
  double loss = 0; // mean cross entropy over all samples
  double accuracy = 0; // 0 to 1
  std::int64_t samples = 0;
};

// Runs the model over the data set once, each rank over its part, and adds the
// parts up in the order of ranks. Same result on all ranks. Leaves the model
// in training mode.
EvaluationResult evaluate(
    Model& model,
    const ImageDataset& dataset,
    std::int64_t image_size,
    at::Device device,
    Communicator& communicator);

// Makes buffers, such as running means of batch norm, equal on all ranks:
// floating-point ones become the mean over ranks, others rank 0's.
void synchronize_buffers(Model& model, Communicator& communicator);

} // namespace egpurun::runtime
