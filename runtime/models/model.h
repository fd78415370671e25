#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

namespace egpurun::runtime {

// A network that classifies images. Not thread-safe, like every torch module.
class Model : public torch::nn::Module {
 public:
  // images: [n, 1, image_size, image_size] float32; returns [n, classes]
  // logits. In training mode n must be > 0 for models with batch norm.
  virtual at::Tensor forward(at::Tensor images) = 0;
};

} // namespace egpurun::runtime
