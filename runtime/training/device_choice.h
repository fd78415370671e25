#pragma once

#include <c10/core/Device.h>

#include <string>

#include "jobs/spec/job_spec.h"
#include "runtime/training/rank_identity.h"

namespace egpurun::runtime {

// Where a rank computes, for people: "cpu" or "cuda:0".
std::string format_device(c10::Device device);

// train.device: auto takes a GPU if this process sees one. Throws Error if
// cuda is asked for and there is none. With several visible GPUs a rank takes
// the one of its local rank (egpurun shows each rank just one).
c10::Device choose_device(
    const jobs::TrainSection& train,
    const RankIdentity& identity);

// train.threads, or this rank's share of the PC's cores, at least 1.
int choose_threads(
    const jobs::TrainSection& train,
    const RankIdentity& identity);

} // namespace egpurun::runtime
