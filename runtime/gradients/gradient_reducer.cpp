#include "runtime/gradients/gradient_reducer.h"

#include <ATen/Functions.h>
#include <ATen/ScalarOps.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/utils/lambda_post_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <mutex>
#include <utility>

#include "runtime/collectives/sharded_all_reduce.h"
#include "topology/error.h"

namespace egpurun::runtime {

namespace {

namespace autograd = torch::autograd;
using Accumulator =
    decltype(autograd::impl::grad_accumulator(std::declval<at::Tensor>()));

std::span<float> floats_of(const at::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

void check_parameters(const std::vector<at::Tensor>& parameters) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].scalar_type() != at::kFloat) {
      throw Error(
          ErrorKind::kBadInput,
          fmt::format("reduce the gradient of parameter {}", i),
          fmt::format(
              "it has type {}, only float32 is supported",
              c10::toString(parameters[i].scalar_type())),
          "keep the model's parameters in float32");
    }
  }
}

} // namespace

struct GradientReducer::State {
  // One bucket's memory and its all-reduce.
  struct OpenBucket {
    at::Tensor input; // weighted local gradients, flat, in host memory
    at::Tensor sum; // reduced gradients, flat, in host memory
    at::Tensor device_sum; // the same on the parameters' device
    std::unique_ptr<ShardedAllReduce> all_reduce;
    std::vector<std::size_t> parameters;
    std::size_t missing = 0; // gradients not yet there in this step
  };
  // Where one parameter's gradient lives.
  struct Place {
    std::size_t bucket = 0;
    at::Tensor input; // view of the bucket's input
    at::Tensor gradient; // view of the bucket's device_sum
    bool filled = false;
  };

  std::vector<at::Tensor> parameters;
  Communicator* communicator = nullptr;
  std::vector<Accumulator> accumulators;
  std::vector<std::uintptr_t> hooks;
  std::vector<OpenBucket> buckets;
  std::vector<Place> places; // [parameter]
  Bytes gradient_bytes;
  double weight = 0;
  bool expects_gradients = false;
  std::mutex mutex; // autograd may run hooks of several devices at once

  void make_buckets(const Codec& codec, const jobs::BucketLimits& limits);
  void make_bucket(
      const Codec& codec,
      const jobs::Bucket& plan,
      const std::vector<std::size_t>& ready_order);
  void take_gradient(std::size_t parameter);
  void fill_missing();
  void count_down(Place& place);
};

void GradientReducer::State::make_buckets(
    const Codec& codec,
    const jobs::BucketLimits& limits) {
  // Backward runs through the layers from the last to the first.
  std::vector<std::size_t> ready_order;
  std::vector<std::size_t> elements;
  for (std::size_t i = parameters.size(); i-- > 0;) {
    ready_order.push_back(i);
    elements.push_back(static_cast<std::size_t>(parameters[i].numel()));
  }
  places.resize(parameters.size());
  for (const jobs::Bucket& plan : jobs::plan_buckets(elements, limits)) {
    make_bucket(codec, plan, ready_order);
  }
}

void GradientReducer::State::make_bucket(
    const Codec& codec,
    const jobs::Bucket& plan,
    const std::vector<std::size_t>& ready_order) {
  const at::Device device =
      parameters[ready_order[plan.tensors.front()]].device();
  const auto host_options =
      at::TensorOptions().dtype(at::kFloat).pinned_memory(device.is_cuda());
  OpenBucket bucket;
  const auto elements = static_cast<std::int64_t>(plan.elements);
  bucket.input = at::empty({elements}, host_options);
  bucket.sum = at::empty({elements}, host_options);
  bucket.device_sum = device.is_cpu()
      ? bucket.sum
      : at::empty({elements}, host_options.pinned_memory(false).device(device));
  bucket.all_reduce = std::make_unique<ShardedAllReduce>(
      codec,
      static_cast<int>(2 * buckets.size()),
      floats_of(bucket.input),
      floats_of(bucket.sum));
  std::int64_t offset = 0;
  for (const std::size_t ready : plan.tensors) {
    const at::Tensor& parameter = parameters[ready_order[ready]];
    bucket.parameters.push_back(ready_order[ready]);
    const std::int64_t count = parameter.numel();
    Place& place = places[ready_order[ready]];
    place.bucket = buckets.size();
    place.input = bucket.input.narrow(0, offset, count).view(parameter.sizes());
    place.gradient =
        bucket.device_sum.narrow(0, offset, count).view(parameter.sizes());
    offset += count;
  }
  gradient_bytes += Bytes{plan.elements * sizeof(float)};
  buckets.push_back(std::move(bucket));
}

void GradientReducer::State::take_gradient(std::size_t parameter) {
  const std::lock_guard lock(mutex);
  if (!expects_gradients) {
    return;
  }
  const c10::NoGradGuard no_grad;
  at::Tensor& gradient = parameters[parameter].mutable_grad();
  Place& place = places[parameter];
  if (gradient.is_cpu()) {
    at::mul_out(place.input, gradient, c10::scalar_to_tensor(weight));
  } else {
    place.input.copy_(gradient.mul(weight));
  }
  gradient.reset();
  count_down(place);
}

void GradientReducer::State::fill_missing() {
  const c10::NoGradGuard no_grad;
  const std::lock_guard lock(mutex);
  expects_gradients = false;
  for (Place& place : places) {
    if (!place.filled) {
      place.input.zero_();
      count_down(place);
    }
  }
}

void GradientReducer::State::count_down(Place& place) {
  if (std::exchange(place.filled, true)) {
    return;
  }
  OpenBucket& bucket = buckets[place.bucket];
  if (--bucket.missing == 0) {
    communicator->start(*bucket.all_reduce);
  }
}

GradientReducer::GradientReducer(
    std::vector<at::Tensor> parameters,
    const Codec& codec,
    Communicator& communicator,
    const jobs::BucketLimits& limits)
    : state_(std::make_shared<State>()) {
  check_parameters(parameters);
  state_->parameters = std::move(parameters);
  state_->communicator = &communicator;
  state_->make_buckets(codec, limits);
  const std::weak_ptr<State> weak = state_;
  for (std::size_t i = 0; i < state_->parameters.size(); ++i) {
    // A variable holds its accumulator only weakly: keep it, or the hook goes.
    auto accumulator = autograd::impl::grad_accumulator(state_->parameters[i]);
    state_->hooks.push_back(accumulator->add_post_hook(
        std::make_unique<autograd::utils::LambdaPostHook>(
            [weak, i](
                const autograd::variable_list& outputs,
                const autograd::variable_list&) {
              if (const auto state = weak.lock()) {
                state->take_gradient(i);
              }
              return outputs;
            })));
    state_->accumulators.push_back(std::move(accumulator));
  }
}

GradientReducer::~GradientReducer() {
  for (std::size_t i = 0; i < state_->hooks.size(); ++i) {
    state_->accumulators[i]->del_post_hook(state_->hooks[i]);
  }
}

void GradientReducer::begin_step(double weight) {
  State& state = *state_;
  state.weight = weight;
  state.expects_gradients = true;
  for (State::OpenBucket& bucket : state.buckets) {
    bucket.missing = bucket.parameters.size();
  }
  for (std::size_t i = 0; i < state.places.size(); ++i) {
    state.places[i].filled = false;
    state.parameters[i].mutable_grad().reset();
  }
}

void GradientReducer::finish_step(const std::function<void()>& use) {
  State& state = *state_;
  state.fill_missing();
  for (State::OpenBucket& bucket : state.buckets) {
    state.communicator->wait(*bucket.all_reduce);
    const c10::NoGradGuard no_grad;
    if (!bucket.device_sum.is_same(bucket.sum)) {
      bucket.device_sum.copy_(bucket.sum);
    }
    for (const std::size_t i : bucket.parameters) {
      state.parameters[i].mutable_grad() = state.places[i].gradient;
    }
    use();
    for (const std::size_t i : bucket.parameters) {
      state.parameters[i].mutable_grad().reset();
    }
  }
}

Bytes GradientReducer::gradient_bytes() const {
  return state_->gradient_bytes;
}

int GradientReducer::bucket_count() const {
  return static_cast<int>(state_->buckets.size());
}

} // namespace egpurun::runtime
