#pragma once

#include <filesystem>

#include "jobs/spec/job_spec.h"

namespace egpurun::runtime {

// Writes what another program needs to train exactly the same thing:
// `start.safetensors`, the first weights, and `order.i32`, the samples of each
// step as little-endian int32 [steps, train.batch_size]; rank r of N takes the
// r-th contiguous part of a row. Throws Error (kBadInput) if the last step of
// an epoch is not a full batch, which a plain array cannot hold.
void export_start(
    const jobs::JobSpec& spec,
    const std::filesystem::path& folder);

} // namespace egpurun::runtime
