#pragma once

#include <cstdint>
#include <vector>

namespace egpurun::runtime {

// Throws kBadInput if a global batch cannot give every rank one sample.
void check_batch_size(std::int64_t global_batch_size, int world_size);

// Which samples a rank trains on in which step. The order of all samples in an
// epoch depends on seed and epoch only, never on the world size: Fisher-Yates
// on SplitMix64. A step takes the next `global_batch_size` of them (the last
// step of an epoch what is left) and splits them into `world_size` contiguous
// parts, part r for rank r, that differ by at most one sample, larger ones
// first. A part may be empty. Not thread-safe: caches an epoch's order.
class ShardedSampler {
 public:
  // Throws Error unless all counts are positive and 0 <= rank < world_size.
  ShardedSampler(
      std::int64_t sample_count,
      std::int64_t global_batch_size,
      int world_size,
      int rank,
      std::uint64_t seed,
      bool shuffle);

  std::int64_t steps_per_epoch() const;
  // Samples of all ranks in `step`, which counts from 0 within an epoch.
  std::int64_t global_count(std::int64_t step) const;
  // This rank's samples, as indices into the data set; may be empty.
  std::vector<std::int64_t> indices(std::int64_t epoch, std::int64_t step);

 private:
  void order_epoch(std::int64_t epoch);

  std::int64_t sample_count_;
  std::int64_t global_batch_size_;
  std::int64_t world_size_;
  std::int64_t rank_;
  std::uint64_t seed_;
  bool shuffle_;
  std::int64_t ordered_epoch_ = -1;
  std::vector<std::int64_t> order_; // of ordered_epoch_
};

} // namespace egpurun::runtime
