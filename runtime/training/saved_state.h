#pragma once

#include <string>
#include <vector>

#include "jobs/spec/job_spec.h"
#include "runtime/checkpoints/checkpoint_file.h"
#include "runtime/models/model.h"
#include "runtime/training/optimizer_table.h"

namespace egpurun::runtime {

// Parameters and buffers by their libtorch names; share the model's memory.
NamedTensors model_state(const Model& model);

// Names of the parameters, in the order in which the optimizer has them.
std::vector<std::string> parameter_names(const Model& model);

// Everything a run needs to go on after `next_step` - 1: the model's and the
// optimizer's tensors, and as metadata the step and what the job file says
// about model, data, batch, optimizer and seed. Sampler and dropout are
// functions of seed and step and need nothing more.
Checkpoint make_checkpoint(
    const jobs::JobSpec& spec,
    const Model& model,
    const torch::optim::Optimizer& optimizer,
    std::int64_t next_step);

// Throws Error (kBadInput) naming both values if the checkpoint was made by a
// job that cannot be continued by this one. Returns the next step.
std::int64_t check_checkpoint(
    const Checkpoint& checkpoint,
    const std::string& path,
    const jobs::JobSpec& spec);

// Copies tensors into the model and the optimizer. Throws Error (kBadInput) if
// one is missing or has another shape or type; the model is unchanged then.
void load_state(
    const NamedTensors& tensors,
    Model& model,
    torch::optim::Optimizer& optimizer);

} // namespace egpurun::runtime
