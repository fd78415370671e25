#include "runtime/training/saved_state.h"

#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <charconv>
#include <map>

#include "topology/error.h"

namespace egpurun::runtime {

namespace {

// One fact about a job that must not change between save and resume.
struct Fact {
  const char* name;
  std::string (*of)(const jobs::JobSpec& spec);
};

std::string model_fact(const jobs::JobSpec& spec) {
  const jobs::ModelSection& model = spec.model;
  const std::string layers = model.name == "mlp"
      ? fmt::format(" {} x {}", model.hidden_layers, model.hidden_units)
      : "";
  return fmt::format(
      "{}{}, images of {} pixels", model.name, layers, spec.data.image_size);
}

constexpr Fact kFacts[] = {
    {"model", model_fact},
    {"data",
     [](const jobs::JobSpec& spec) {
       return fmt::format(
           "{}, {} samples",
           spec.data.name,
           spec.data.train_samples == 0
               ? "all"
               : std::to_string(spec.data.train_samples));
     }},
    {"batch_size",
     [](const jobs::JobSpec& spec) {
       return std::to_string(spec.train.batch_size);
     }},
    {"optimizer",
     [](const jobs::JobSpec& spec) { return spec.train.optimizer; }},
    {"seed",
     [](const jobs::JobSpec& spec) { return std::to_string(spec.job.seed); }},
};

std::string metadata_value(const Checkpoint& checkpoint, const char* name) {
  const auto found = checkpoint.metadata.find(name);
  return found == checkpoint.metadata.end() ? "nothing" : found->second;
}

Error missing_tensor(const std::string& name, const std::string& found) {
  return Error(
      ErrorKind::kBadInput,
      fmt::format("the tensor '{}' from a checkpoint", name),
      found,
      "the checkpoint is of another model or version: use another "
      "checkpoint.folder or checkpoint.resume = \"never\"");
}

} // namespace

NamedTensors model_state(const Model& model) {
  NamedTensors state;
  for (const auto& parameter : model.named_parameters()) {
    state.emplace_back(parameter.key(), parameter.value().detach());
  }
  for (const auto& buffer : model.named_buffers()) {
    state.emplace_back(buffer.key(), buffer.value().detach());
  }
  return state;
}

std::vector<std::string> parameter_names(const Model& model) {
  std::vector<std::string> names;
  for (const auto& parameter : model.named_parameters()) {
    names.push_back(parameter.key());
  }
  return names;
}

Checkpoint make_checkpoint(
    const jobs::JobSpec& spec,
    const Model& model,
    const torch::optim::Optimizer& optimizer,
    std::int64_t next_step) {
  Checkpoint checkpoint;
  for (const Fact& fact : kFacts) {
    checkpoint.metadata[fact.name] = fact.of(spec);
  }
  checkpoint.metadata["next_step"] = std::to_string(next_step);
  checkpoint.metadata["job"] = spec.job.name;
  NamedTensors tensors = model_state(model);
  for (auto& entry : optimizer_state(optimizer, parameter_names(model))) {
    tensors.push_back(std::move(entry));
  }
  for (auto& [name, tensor] : tensors) {
    checkpoint.tensors.push_back({name, tensor.cpu().contiguous()});
  }
  return checkpoint;
}

std::int64_t check_checkpoint(
    const Checkpoint& checkpoint,
    const std::string& path,
    const jobs::JobSpec& spec) {
  const ErrorPlace place{
      .host = {}, .rank = {}, .path = path, .line = 0, .column = 0};
  for (const Fact& fact : kFacts) {
    const std::string saved = metadata_value(checkpoint, fact.name);
    const std::string wanted = fact.of(spec);
    if (saved != wanted) {
      throw Error(
          ErrorKind::kBadInput,
          fmt::format("resume with {} = {}", fact.name, wanted),
          fmt::format("the checkpoint has {} = {}", fact.name, saved),
          "use another checkpoint.folder, checkpoint.resume = \"never\", or "
          "the job file that made it",
          place);
    }
  }
  const std::string text = metadata_value(checkpoint, "next_step");
  std::int64_t next_step = -1;
  std::from_chars(text.data(), text.data() + text.size(), next_step);
  if (next_step < 0) {
    throw Error(
        ErrorKind::kBadInput,
        "the step to resume from",
        fmt::format("the checkpoint says next_step = {}", text),
        "delete this file; the one before is used then",
        place);
  }
  return next_step;
}

void load_state(
    const NamedTensors& tensors,
    Model& model,
    torch::optim::Optimizer& optimizer) {
  std::map<std::string, at::Tensor> by_name(tensors.begin(), tensors.end());
  const NamedTensors state = model_state(model);
  for (const auto& [name, tensor] : state) {
    const auto saved = by_name.find(name);
    if (saved == by_name.end()) {
      throw missing_tensor(name, "the checkpoint has no such tensor");
    }
    if (saved->second.sizes() != tensor.sizes() ||
        saved->second.scalar_type() != tensor.scalar_type()) {
      throw missing_tensor(
          name,
          fmt::format(
              "it has {} elements of {}, the model needs {} of {}",
              saved->second.numel(),
              c10::toString(saved->second.scalar_type()),
              tensor.numel(),
              c10::toString(tensor.scalar_type())));
    }
  }
  load_optimizer_state(optimizer, parameter_names(model), tensors);
  const c10::NoGradGuard no_grad;
  for (const auto& [name, tensor] : state) {
    tensor.copy_(by_name.at(name));
  }
}

} // namespace egpurun::runtime
