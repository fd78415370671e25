#include "runtime/models/resnet18.h"

#include <ATen/ops/relu.h>
#include <fmt/format.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include <vector>

namespace egpurun::runtime {
namespace {

// Without bias, since batch norm follows; weights as in the paper on
// rectifiers (He et al. 2015, https://arxiv.org/abs/1502.01852), fan-out.
torch::nn::Conv2d convolution(
    std::int64_t channels_in,
    std::int64_t channels_out,
    std::int64_t kernel,
    std::int64_t stride) {
  torch::nn::Conv2d layer(
      torch::nn::Conv2dOptions(channels_in, channels_out, kernel)
          .stride(stride)
          .padding(kernel / 2)
          .bias(false));
  torch::nn::init::kaiming_normal_(
      layer->weight, 0, torch::kFanOut, torch::kReLU);
  return layer;
}

// relu(norm(conv(relu(norm(conv(x))))) + shortcut(x)); the shortcut is a 1x1
// convolution where the shape changes.
class BasicBlock : public torch::nn::Module {
 public:
  BasicBlock(
      std::int64_t channels_in,
      std::int64_t channels_out,
      std::int64_t stride)
      : convolution1_(convolution(channels_in, channels_out, 3, stride)),
        norm1_(channels_out),
        convolution2_(convolution(channels_out, channels_out, 3, 1)),
        norm2_(channels_out) {
    register_module("convolution1", convolution1_);
    register_module("norm1", norm1_);
    register_module("convolution2", convolution2_);
    register_module("norm2", norm2_);
    if (stride != 1 || channels_in != channels_out) {
      shortcut_ = register_module(
          "shortcut", convolution(channels_in, channels_out, 1, stride));
      shortcut_norm_ = register_module(
          "shortcut_norm", torch::nn::BatchNorm2d(channels_out));
    }
  }

  at::Tensor forward(const at::Tensor& input) {
    at::Tensor x = norm1_->forward(convolution1_->forward(input));
    x = norm2_->forward(convolution2_->forward(at::relu(x)));
    const at::Tensor shortcut = shortcut_.is_empty()
        ? input
        : shortcut_norm_->forward(shortcut_->forward(input));
    return at::relu(x + shortcut);
  }

 private:
  torch::nn::Conv2d convolution1_;
  torch::nn::BatchNorm2d norm1_;
  torch::nn::Conv2d convolution2_;
  torch::nn::BatchNorm2d norm2_;
  torch::nn::Conv2d shortcut_{nullptr};
  torch::nn::BatchNorm2d shortcut_norm_{nullptr};
};

class Resnet18 : public Model {
 public:
  explicit Resnet18(std::int64_t classes)
      : stem_(convolution(1, 64, 3, 1)), stem_norm_(64) {
    register_module("stem", stem_);
    register_module("stem_norm", stem_norm_);
    std::int64_t channels = 64;
    for (int stage = 1; stage <= 4; ++stage) {
      const std::int64_t width = std::int64_t{64} << (stage - 1);
      add_block(stage, 1, channels, width, stage == 1 ? 1 : 2);
      add_block(stage, 2, width, width, 1);
      channels = width;
    }
    output_ = register_module("output", torch::nn::Linear(channels, classes));
  }

  at::Tensor forward(at::Tensor images) override {
    at::Tensor x = at::relu(stem_norm_->forward(stem_->forward(images)));
    for (const auto& block : blocks_) {
      x = block->forward(x);
    }
    return output_->forward(x.mean({2, 3})); // average over all pixels
  }

 private:
  void add_block(
      int stage,
      int block,
      std::int64_t channels_in,
      std::int64_t channels_out,
      std::int64_t stride) {
    blocks_.push_back(register_module(
        fmt::format("stage{}_block{}", stage, block),
        std::make_shared<BasicBlock>(channels_in, channels_out, stride)));
  }

  torch::nn::Conv2d stem_;
  torch::nn::BatchNorm2d stem_norm_;
  std::vector<std::shared_ptr<BasicBlock>> blocks_;
  torch::nn::Linear output_{nullptr};
};

} // namespace

std::shared_ptr<Model> make_resnet18(
    const jobs::ModelSection&,
    std::int64_t,
    std::int64_t classes) {
  return std::make_shared<Resnet18>(classes);
}

} // namespace egpurun::runtime
