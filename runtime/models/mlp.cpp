#include "runtime/models/mlp.h"

#include <ATen/ops/dropout.h>
#include <ATen/ops/relu.h>
#include <fmt/format.h>
#include <torch/nn/modules/linear.h>

#include <vector>

#include "topology/error.h"

namespace egpurun::runtime {
namespace {

class Mlp : public Model {
 public:
  Mlp(const jobs::ModelSection& section,
      std::int64_t image_size,
      std::int64_t classes)
      : dropout_(section.dropout) {
    std::int64_t inputs = image_size * image_size;
    for (std::int64_t i = 0; i < section.hidden_layers; ++i) {
      hidden_.push_back(register_module(
          fmt::format("hidden{}", i + 1),
          torch::nn::Linear(inputs, section.hidden_units)));
      inputs = section.hidden_units;
    }
    output_ = register_module("output", torch::nn::Linear(inputs, classes));
  }

  at::Tensor forward(at::Tensor images) override {
    at::Tensor x = images.flatten(1);
    for (torch::nn::Linear& layer : hidden_) {
      x = at::relu(layer->forward(x));
      if (dropout_ > 0) {
        x = at::dropout(x, dropout_, is_training());
      }
    }
    return output_->forward(x);
  }

 private:
  double dropout_;
  std::vector<torch::nn::Linear> hidden_;
  torch::nn::Linear output_{nullptr};
};

} // namespace

std::shared_ptr<Model> make_mlp(
    const jobs::ModelSection& section,
    std::int64_t image_size,
    std::int64_t classes) {
  if (section.hidden_units < 1 || section.hidden_layers < 0) {
    throw Error(
        ErrorKind::kBadInput,
        "cannot build the model mlp",
        fmt::format(
            "hidden_units = {}, hidden_layers = {}",
            section.hidden_units,
            section.hidden_layers),
        "write hidden_units of at least 1 and hidden_layers of at least 0");
  }
  return std::make_shared<Mlp>(section, image_size, classes);
}

} // namespace egpurun::runtime
