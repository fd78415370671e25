#include "runtime/training/evaluation.h"

#include <ATen/Functions.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <vector>

#include "runtime/codecs/codec_table.h"
#include "runtime/collectives/control.h"
#include "runtime/collectives/number_all_gather.h"
#include "runtime/collectives/sharded_all_reduce.h"
#include "runtime/data/batch.h"
#include "runtime/training/tensor_broadcast.h"

namespace egpurun::runtime {

namespace {

constexpr std::int64_t kEvaluationBatch = 250; // samples

// Sum of losses, right answers and samples of one rank.
using Sums = std::array<double, 3>;

Sums evaluate_part(
    Model& model,
    const ImageDataset& dataset,
    std::int64_t begin,
    std::int64_t end,
    std::int64_t image_size,
    at::Device device) {
  Sums sums{};
  for (std::int64_t at = begin; at < end; at += kEvaluationBatch) {
    std::vector<std::int64_t> indices(
        static_cast<std::size_t>(std::min(kEvaluationBatch, end - at)));
    std::iota(indices.begin(), indices.end(), at);
    const Batch batch = make_batch(dataset, indices, image_size);
    const at::Tensor labels = batch.labels.to(device);
    const at::Tensor logits = model.forward(batch.images.to(device));
    const auto count = static_cast<double>(indices.size());
    sums[0] += at::cross_entropy_loss(logits, labels).item<double>() * count;
    sums[1] += logits.argmax(1).eq(labels).sum().item<double>();
    sums[2] += count;
  }
  return sums;
}

} // namespace

EvaluationResult evaluate(
    Model& model,
    const ImageDataset& dataset,
    std::int64_t image_size,
    at::Device device,
    Communicator& communicator) {
  const c10::NoGradGuard no_grad;
  model.eval();
  const std::int64_t rank = communicator.rank();
  const std::int64_t ranks = communicator.world_size();
  const Sums mine = evaluate_part(
      model,
      dataset,
      dataset.count * rank / ranks,
      dataset.count * (rank + 1) / ranks,
      image_size,
      device);
  model.train();

  NumberAllGather gather(kLossTag, mine.size());
  gather.set(mine);
  communicator.start(gather);
  communicator.wait(gather);
  Sums total{};
  for (int other = 0; other < communicator.world_size(); ++other) {
    for (std::size_t i = 0; i < total.size(); ++i) {
      total[i] += gather.of_rank(other)[i];
    }
  }
  const double samples = std::max(total[2], 1.0);
  return {
      .loss = total[0] / samples,
      .accuracy = total[1] / samples,
      .samples = static_cast<std::int64_t>(total[2])};
}

void synchronize_buffers(Model& model, Communicator& communicator) {
  if (communicator.world_size() == 1) {
    return;
  }
  const c10::NoGradGuard no_grad;
  std::vector<at::Tensor> averaged;
  NamedTensors copied;
  std::vector<at::Tensor> flat;
  for (const auto& buffer : model.named_buffers()) {
    if (buffer.value().is_floating_point()) {
      averaged.push_back(buffer.value());
      flat.push_back(buffer.value().detach().cpu().to(at::kFloat).flatten());
    } else {
      copied.emplace_back(buffer.key(), buffer.value());
    }
  }
  if (!averaged.empty()) {
    const at::Tensor mine = at::cat(flat) / communicator.world_size();
    at::Tensor mean = at::empty_like(mine);
    const auto count = static_cast<std::size_t>(mine.numel());
    const auto codec = make_codec("none");
    ShardedAllReduce all_reduce(
        *codec,
        0,
        {mine.data_ptr<float>(), count},
        {mean.data_ptr<float>(), count});
    communicator.start(all_reduce);
    communicator.wait(all_reduce);
    std::int64_t offset = 0;
    for (at::Tensor& buffer : averaged) {
      buffer.copy_(mean.narrow(0, offset, buffer.numel()).view(buffer.sizes()));
      offset += buffer.numel();
    }
  }
  if (!copied.empty()) {
    const NamedTensors from_root = broadcast_tensors(communicator, copied);
    for (std::size_t i = 0; i < copied.size(); ++i) {
      copied[i].second.copy_(from_root[i].second);
    }
  }
}

} // namespace egpurun::runtime
