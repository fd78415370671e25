#pragma once

#include <ATen/core/Tensor.h>
#include <torch/optim/optimizer.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "jobs/spec/job_spec.h"

namespace egpurun::runtime {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

// A parameter's state as tensors named by their role ("exp_avg", ...).
using ParameterState = torch::optim::OptimizerParamState;

// One optimizer that train.optimizer can name. `export_state` gives a
// parameter's state without copying; `import_state` builds it from copies on
// the parameter's device, and throws Error if a tensor is missing or misshaped.
struct OptimizerRow {
  std::string_view name;
  std::string_view description;
  std::unique_ptr<torch::optim::Optimizer> (*make)(
      std::vector<at::Tensor> parameters,
      const jobs::TrainSection& train);
  bool (*made)(const torch::optim::Optimizer& optimizer); // by this row?
  NamedTensors (*export_state)(const ParameterState& state);
  std::unique_ptr<ParameterState> (
      *import_state)(const NamedTensors& tensors, const at::Tensor& parameter);
};

std::span<const OptimizerRow> optimizer_table();

// Throws kBadInput if train.optimizer is unknown.
std::unique_ptr<torch::optim::Optimizer> make_optimizer(
    std::vector<at::Tensor> parameters,
    const jobs::TrainSection& train);

void set_learning_rate(torch::optim::Optimizer& optimizer, double rate);

// All state as "optimizer.<parameter name>.<role>"; nothing for parameters
// that were not stepped yet. `names`: of the optimizer's parameters, in its
// order. The tensors share memory with the optimizer.
NamedTensors optimizer_state(
    const torch::optim::Optimizer& optimizer,
    const std::vector<std::string>& names);

// Replaces all state by what `tensors` holds below "optimizer.", other names
// are ignored: the inverse of optimizer_state, bit for bit. Throws kBadInput
// and changes nothing if a tensor belongs to no parameter, is of another
// optimizer or has another shape.
void load_optimizer_state(
    torch::optim::Optimizer& optimizer,
    const std::vector<std::string>& names,
    const NamedTensors& tensors);

} // namespace egpurun::runtime
