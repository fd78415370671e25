#include "runtime/data/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "runtime/data/random_numbers.h"
#include "topology/error.h"

namespace egpurun::runtime {

void check_batch_size(std::int64_t global_batch_size, int world_size) {
  if (global_batch_size < world_size) {
    throw Error(
        ErrorKind::kBadInput,
        fmt::format(
            "cannot split a batch of {} samples (train.batch_size)",
            global_batch_size),
        fmt::format("{} ranks, which need a sample each", world_size),
        fmt::format(
            "set train.batch_size to {} or more, or start fewer ranks",
            world_size));
  }
}

ShardedSampler::ShardedSampler(
    std::int64_t sample_count,
    std::int64_t global_batch_size,
    int world_size,
    int rank,
    std::uint64_t seed,
    bool shuffle)
    : sample_count_(sample_count),
      global_batch_size_(global_batch_size),
      world_size_(world_size),
      rank_(rank),
      seed_(seed),
      shuffle_(shuffle) {
  if (sample_count < 1 || global_batch_size < 1 || world_size < 1 || rank < 0 ||
      rank >= world_size) {
    throw Error(
        ErrorKind::kBadInput,
        "cannot share out the samples",
        fmt::format(
            "{} samples, batches of {}, rank {} of {}",
            sample_count,
            global_batch_size,
            rank,
            world_size),
        "give at least one sample and a batch size of at least 1");
  }
}

std::int64_t ShardedSampler::steps_per_epoch() const {
  return (sample_count_ - 1) / global_batch_size_ + 1;
}

std::int64_t ShardedSampler::global_count(std::int64_t step) const {
  if (step < 0 || step >= steps_per_epoch()) {
    throw Error(
        ErrorKind::kRun,
        fmt::format("cannot give samples for step {} of an epoch", step),
        fmt::format("an epoch has {} steps", steps_per_epoch()),
        "report this as an error of egpurun");
  }
  return std::min(
      global_batch_size_, sample_count_ - step * global_batch_size_);
}

std::vector<std::int64_t> ShardedSampler::indices(
    std::int64_t epoch,
    std::int64_t step) {
  const std::int64_t count = global_count(step);
  order_epoch(epoch);
  const std::int64_t share = count / world_size_;
  const std::int64_t larger = count % world_size_; // ranks with share + 1
  const std::int64_t first =
      step * global_batch_size_ + rank_ * share + std::min(rank_, larger);
  const std::int64_t size = share + (rank_ < larger ? 1 : 0);
  return {order_.begin() + first, order_.begin() + first + size};
}

void ShardedSampler::order_epoch(std::int64_t epoch) {
  if (epoch == ordered_epoch_ || (!shuffle_ && !order_.empty())) {
    return;
  }
  order_.resize(static_cast<std::size_t>(sample_count_));
  std::iota(order_.begin(), order_.end(), std::int64_t{0});
  if (shuffle_) {
    SplitMix64 random(stream_seed(seed_, static_cast<std::uint64_t>(epoch)));
    for (std::size_t i = order_.size() - 1; i > 0; --i) {
      std::swap(order_[i], order_[random.below(i + 1)]);
    }
  }
  ordered_epoch_ = epoch;
}

} // namespace egpurun::runtime
