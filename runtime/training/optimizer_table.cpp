#include "runtime/training/optimizer_table.h"

#include <ATen/ops/full.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <array>
#include <map>

#include "runtime/data/named_row.h"

namespace egpurun::runtime {
namespace {

constexpr std::string_view kPrefix = "optimizer.";

Error state_error(std::string found) {
  return Error(
      ErrorKind::kBadInput,
      "cannot restore the optimizer's state from the checkpoint",
      std::move(found),
      "resume with the same model and train.optimizer, or set "
      "checkpoint.resume = \"never\"");
}

// The tensor for `role`, checked against what it must look like.
const at::Tensor& tensor_for(
    const NamedTensors& tensors,
    std::string_view role,
    at::IntArrayRef shape,
    at::ScalarType type) {
  for (const auto& [name, tensor] : tensors) {
    if (name != role) {
      continue;
    }
    if (tensor.sizes() != shape || tensor.scalar_type() != type) {
      throw state_error(fmt::format(
          "{} has shape [{}] instead of [{}], or another type",
          name,
          fmt::join(tensor.sizes(), ", "),
          fmt::join(shape, ", ")));
    }
    return tensor;
  }
  throw state_error(fmt::format("no tensor {}", role));
}

// A copy for a parameter's state, on the parameter's device.
at::Tensor copy_for(
    const NamedTensors& tensors,
    std::string_view role,
    const at::Tensor& parameter) {
  return tensor_for(tensors, role, parameter.sizes(), parameter.scalar_type())
      .to(parameter.device())
      .clone();
}

void check_count(const NamedTensors& tensors, std::size_t count) {
  if (tensors.size() != count) {
    throw state_error(fmt::format(
        "{} tensors for a parameter instead of {}", tensors.size(), count));
  }
}

using torch::optim::AdamWParamState;
using torch::optim::SGDParamState;

std::unique_ptr<torch::optim::Optimizer> make_sgd(
    std::vector<at::Tensor> parameters,
    const jobs::TrainSection& train) {
  return std::make_unique<torch::optim::SGD>(
      std::move(parameters),
      torch::optim::SGDOptions(train.learning_rate)
          .momentum(train.momentum)
          .weight_decay(train.weight_decay));
}

NamedTensors export_sgd(const ParameterState& state) {
  return {
      {"momentum_buffer",
       static_cast<const SGDParamState&>(state).momentum_buffer()}};
}

std::unique_ptr<ParameterState> import_sgd(
    const NamedTensors& tensors,
    const at::Tensor& parameter) {
  check_count(tensors, 1);
  auto state = std::make_unique<SGDParamState>();
  state->momentum_buffer(copy_for(tensors, "momentum_buffer", parameter));
  return state;
}

std::unique_ptr<torch::optim::Optimizer> make_adamw(
    std::vector<at::Tensor> parameters,
    const jobs::TrainSection& train) {
  return std::make_unique<torch::optim::AdamW>(
      std::move(parameters),
      torch::optim::AdamWOptions(train.learning_rate)
          .betas({train.beta1, train.beta2})
          .eps(train.epsilon)
          .weight_decay(train.weight_decay));
}

NamedTensors export_adamw(const ParameterState& state) {
  const auto& adamw = static_cast<const AdamWParamState&>(state);
  return {
      {"step", at::full({1}, adamw.step(), at::kLong)},
      {"exp_avg", adamw.exp_avg()},
      {"exp_avg_sq", adamw.exp_avg_sq()},
  };
}

std::unique_ptr<ParameterState> import_adamw(
    const NamedTensors& tensors,
    const at::Tensor& parameter) {
  check_count(tensors, 3);
  auto state = std::make_unique<AdamWParamState>();
  state->step(tensor_for(tensors, "step", {1}, at::kLong).item<std::int64_t>());
  state->exp_avg(copy_for(tensors, "exp_avg", parameter));
  state->exp_avg_sq(copy_for(tensors, "exp_avg_sq", parameter));
  return state;
}

template <class Optimizer>
bool is_a(const torch::optim::Optimizer& optimizer) {
  return dynamic_cast<const Optimizer*>(&optimizer) != nullptr;
}

constexpr std::array kOptimizers{
    OptimizerRow{
        "sgd",
        "stochastic gradient descent with momentum and weight decay",
        make_sgd,
        is_a<torch::optim::SGD>,
        export_sgd,
        import_sgd},
    OptimizerRow{
        "adamw",
        "Adam with decoupled weight decay (beta1, beta2, epsilon)",
        make_adamw,
        is_a<torch::optim::AdamW>,
        export_adamw,
        import_adamw},
};

const OptimizerRow& row_of(const torch::optim::Optimizer& optimizer) {
  for (const OptimizerRow& row : kOptimizers) {
    if (row.made(optimizer)) {
      return row;
    }
  }
  throw Error(
      ErrorKind::kRun,
      "cannot save or restore an optimizer's state",
      "an optimizer that is in no table",
      "report this as an error of egpurun");
}

const std::vector<at::Tensor>& parameters_of(
    const torch::optim::Optimizer& optimizer) {
  return optimizer.param_groups().at(0).params(); // our rows make one group
}

void check_names(
    const torch::optim::Optimizer& optimizer,
    const std::vector<std::string>& names) {
  if (parameters_of(optimizer).size() != names.size()) {
    throw state_error(fmt::format(
        "{} names for {} parameters",
        names.size(),
        parameters_of(optimizer).size()));
  }
}

// Tensors below "optimizer.", by parameter name; the last part of the name is
// the role.
std::map<std::string, NamedTensors> by_parameter(const NamedTensors& tensors) {
  std::map<std::string, NamedTensors> groups;
  for (const auto& [name, tensor] : tensors) {
    if (!name.starts_with(kPrefix)) {
      continue;
    }
    const std::size_t dot = name.rfind('.');
    const std::string parameter = dot < kPrefix.size()
        ? ""
        : name.substr(kPrefix.size(), dot - kPrefix.size());
    groups[parameter].emplace_back(name.substr(dot + 1), tensor);
  }
  return groups;
}

} // namespace

std::span<const OptimizerRow> optimizer_table() {
  return kOptimizers;
}

std::unique_ptr<torch::optim::Optimizer> make_optimizer(
    std::vector<at::Tensor> parameters,
    const jobs::TrainSection& train) {
  return row_named(optimizer_table(), "train.optimizer", train.optimizer)
      .make(std::move(parameters), train);
}

void set_learning_rate(torch::optim::Optimizer& optimizer, double rate) {
  for (auto& group : optimizer.param_groups()) {
    group.options().set_lr(rate);
  }
}

NamedTensors optimizer_state(
    const torch::optim::Optimizer& optimizer,
    const std::vector<std::string>& names) {
  check_names(optimizer, names);
  const OptimizerRow& row = row_of(optimizer);
  NamedTensors result;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto found = optimizer.state().find(
        parameters_of(optimizer)[i].unsafeGetTensorImpl());
    if (found == optimizer.state().end()) {
      continue;
    }
    for (auto& [role, tensor] : row.export_state(*found->second)) {
      result.emplace_back(
          fmt::format("{}{}.{}", kPrefix, names[i], role), tensor);
    }
  }
  return result;
}

void load_optimizer_state(
    torch::optim::Optimizer& optimizer,
    const std::vector<std::string>& names,
    const NamedTensors& tensors) {
  check_names(optimizer, names);
  const OptimizerRow& row = row_of(optimizer);
  auto groups = by_parameter(tensors);
  std::map<void*, std::unique_ptr<ParameterState>> restored;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto group = groups.find(names[i]);
    if (group == groups.end()) {
      continue;
    }
    const at::Tensor& parameter = parameters_of(optimizer)[i];
    restored[parameter.unsafeGetTensorImpl()] =
        row.import_state(group->second, parameter);
    groups.erase(group);
  }
  if (!groups.empty()) {
    throw state_error(fmt::format(
        "state of the parameter '{}', which the model does not have",
        groups.begin()->first));
  }
  optimizer.state().clear();
  for (auto& [parameter, state] : restored) {
    optimizer.state()[parameter] = std::move(state);
  }
}

} // namespace egpurun::runtime
