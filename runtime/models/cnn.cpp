#include "runtime/models/cnn.h"

#include <ATen/ops/dropout.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/relu.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

namespace egpurun::runtime {
namespace {

constexpr std::int64_t kFirstChannels = 16;
constexpr std::int64_t kSecondChannels = 32;
constexpr std::int64_t kHiddenUnits = 128;

torch::nn::Conv2d same_size_convolution(
    std::int64_t channels_in,
    std::int64_t channels_out) {
  return torch::nn::Conv2d(
      torch::nn::Conv2dOptions(channels_in, channels_out, 3).padding(1));
}

class Cnn : public Model {
 public:
  Cnn(double dropout, std::int64_t image_size, std::int64_t classes)
      : dropout_(dropout) {
    const std::int64_t pooled = image_size / 2 / 2;
    convolution1_ = register_module(
        "convolution1", same_size_convolution(1, kFirstChannels));
    convolution2_ = register_module(
        "convolution2", same_size_convolution(kFirstChannels, kSecondChannels));
    hidden_ = register_module(
        "hidden",
        torch::nn::Linear(kSecondChannels * pooled * pooled, kHiddenUnits));
    output_ =
        register_module("output", torch::nn::Linear(kHiddenUnits, classes));
  }

  at::Tensor forward(at::Tensor images) override {
    at::Tensor x = at::relu(convolution1_->forward(images));
    x = at::max_pool2d(x, {2, 2});
    x = at::max_pool2d(at::relu(convolution2_->forward(x)), {2, 2});
    x = at::relu(hidden_->forward(x.flatten(1)));
    if (dropout_ > 0) {
      x = at::dropout(x, dropout_, is_training());
    }
    return output_->forward(x);
  }

 private:
  double dropout_;
  torch::nn::Conv2d convolution1_{nullptr};
  torch::nn::Conv2d convolution2_{nullptr};
  torch::nn::Linear hidden_{nullptr};
  torch::nn::Linear output_{nullptr};
};

} // namespace

std::shared_ptr<Model> make_cnn(
    const jobs::ModelSection& section,
    std::int64_t image_size,
    std::int64_t classes) {
  return std::make_shared<Cnn>(section.dropout, image_size, classes);
}

} // namespace egpurun::runtime
