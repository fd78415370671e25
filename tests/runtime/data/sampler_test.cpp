#include "runtime/data/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "topology/error.h"

namespace egpurun::runtime {
namespace {

using Indices = std::vector<std::int64_t>;

// All ranks' samples of an epoch, step by step, in rank order.
std::vector<Indices> epoch_order(
    std::int64_t samples,
    std::int64_t batch,
    int world_size,
    std::int64_t epoch,
    std::uint64_t seed = 1,
    bool shuffle = true) {
  std::vector<Indices> steps;
  for (int rank = 0; rank < world_size; ++rank) {
    ShardedSampler sampler(samples, batch, world_size, rank, seed, shuffle);
    steps.resize(static_cast<std::size_t>(sampler.steps_per_epoch()));
    for (std::size_t step = 0; step < steps.size(); ++step) {
      const Indices part =
          sampler.indices(epoch, static_cast<std::int64_t>(step));
      steps[step].insert(steps[step].end(), part.begin(), part.end());
    }
  }
  return steps;
}

TEST(ShardedSampler, SameStepsWhateverTheWorldSize) {
  for (const std::int64_t samples : {1, 5, 97, 128, 1000}) {
    for (const std::int64_t batch : {8, 13, 128}) {
      const auto alone = epoch_order(samples, batch, 1, 3);
      for (const int world_size : {2, 3, 4, 7}) {
        EXPECT_EQ(epoch_order(samples, batch, world_size, 3), alone)
            << samples << " samples, batch " << batch << ", " << world_size;
      }
    }
  }
}

TEST(ShardedSampler, EverySampleExactlyOncePerEpoch) {
  for (const int world_size : {1, 3, 4}) {
    Indices all;
    for (const Indices& step : epoch_order(103, 10, world_size, 5)) {
      all.insert(all.end(), step.begin(), step.end());
    }
    std::sort(all.begin(), all.end());
    Indices expected(103);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(all, expected) << world_size << " ranks";
  }
}

TEST(ShardedSampler, PartsDifferByAtMostOneAndMayBeEmpty) {
  for (int rank = 0; rank < 4; ++rank) {
    ShardedSampler sampler(22, 10, 4, rank, 1, true);
    EXPECT_EQ(sampler.steps_per_epoch(), 3);
    EXPECT_EQ(sampler.global_count(0), 10);
    EXPECT_EQ(sampler.global_count(2), 2);
    EXPECT_EQ(sampler.indices(0, 0).size(), rank < 2 ? 3u : 2u);
    EXPECT_EQ(sampler.indices(0, 2).size(), rank < 2 ? 1u : 0u);
  }
}

TEST(ShardedSampler, OrderDependsOnEpochAndSeedOnly) {
  const auto first = epoch_order(200, 200, 1, 0);
  EXPECT_NE(epoch_order(200, 200, 1, 1), first);
  EXPECT_NE(epoch_order(200, 200, 1, 0, 2), first);
  ShardedSampler sampler(200, 200, 1, 0, 1, true);
  sampler.indices(4, 0);
  EXPECT_EQ(sampler.indices(0, 0), first[0]);
}

// From a Python copy of the algorithm; a change would silently break resuming
// old checkpoints.
TEST(ShardedSampler, OrderIsTheSameOnEveryPlatform) {
  EXPECT_EQ(
      epoch_order(10, 10, 1, 0)[0], (Indices{0, 8, 1, 4, 2, 3, 6, 9, 7, 5}));
}

TEST(ShardedSampler, FirstPlaceIsUniform) {
  std::vector<int> seen(10);
  ShardedSampler sampler(10, 10, 1, 0, 7, true);
  for (int epoch = 0; epoch < 10000; ++epoch) {
    ++seen[static_cast<std::size_t>(sampler.indices(epoch, 0)[0])];
  }
  // 1000 expected each, deviation 30.
  for (const int count : seen) {
    EXPECT_NEAR(count, 1000, 150);
  }
}

TEST(ShardedSampler, WithoutShufflingInFileOrder) {
  const auto order = epoch_order(5, 3, 2, 9, 1, false);
  EXPECT_EQ(order, (std::vector<Indices>{{0, 1, 2}, {3, 4}}));
}

TEST(ShardedSampler, RejectsWhatMakesNoSense) {
  EXPECT_THROW(ShardedSampler(0, 1, 1, 0, 1, true), Error);
  EXPECT_THROW(ShardedSampler(1, 0, 1, 0, 1, true), Error);
  EXPECT_THROW(ShardedSampler(1, 1, 1, 1, 1, true), Error);
  EXPECT_THROW(ShardedSampler(1, 1, 1, -1, 1, true), Error);
  ShardedSampler sampler(10, 4, 1, 0, 1, true);
  EXPECT_THROW(sampler.indices(0, 3), Error);
  EXPECT_THROW(sampler.indices(0, -1), Error);
}

TEST(CheckBatchSize, NeedsOneSamplePerRank) {
  EXPECT_NO_THROW(check_batch_size(4, 4));
  try {
    check_batch_size(3, 4);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    EXPECT_NE(error.asked().find("3 samples"), std::string::npos);
    EXPECT_NE(error.found().find("4 ranks"), std::string::npos);
  }
}

} // namespace
} // namespace egpurun::runtime
