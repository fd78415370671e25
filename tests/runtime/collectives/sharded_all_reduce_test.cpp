#include "runtime/collectives/sharded_all_reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <tuple>
#include <vector>

#include "runtime/codecs/codec_table.h"
#include "tests/runtime/collectives/thread_ranks.h"

namespace egpurun::runtime {
namespace {

// Different on every rank, with sums that depend on the order of adding.
float value_of(int rank, std::size_t index) {
  return std::sin(static_cast<float>(index) * 0.37f) *
      std::pow(
             10.0f, static_cast<float>((rank + static_cast<int>(index)) % 5)) /
      7.0f;
}

using Case = std::tuple<int, std::size_t>; // world size, elements

class AllReduce : public testing::TestWithParam<Case> {
 protected:
  std::vector<float> input(int rank, std::size_t count) const {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = value_of(rank, i);
    }
    return values;
  }

  // The sum of rank r, for every r.
  std::vector<std::vector<float>> reduce(const Codec& codec, int repetitions) {
    const auto [world_size, count] = GetParam();
    std::vector<std::vector<float>> sums(static_cast<std::size_t>(world_size));
    run_thread_ranks(
        world_size, [&, count = count](Communicator& communicator) {
          const auto mine = input(communicator.rank(), count);
          auto& sum = sums[static_cast<std::size_t>(communicator.rank())];
          sum.assign(count, -1.0f);
          ShardedAllReduce all_reduce(codec, 4, mine, sum);
          for (int i = 0; i < repetitions; ++i) {
            communicator.start(all_reduce);
            communicator.wait(all_reduce);
          }
        });
    return sums;
  }
};

TEST_P(AllReduce, NoneIsTheSumInRankOrder) {
  const auto [world_size, count] = GetParam();
  const auto sums = reduce(*make_codec("none"), 1);
  for (std::size_t i = 0; i < count; ++i) {
    float expected = value_of(0, i);
    for (int rank = 1; rank < world_size; ++rank) {
      expected += value_of(rank, i);
    }
    ASSERT_EQ(sums[0][i], expected) << i;
  }
}

TEST_P(AllReduce, EveryCodecGivesTheSameBitsOnEveryRank) {
  for (const CodecRow& row : codec_table()) {
    const auto sums = reduce(*row.make(), 2);
    for (const auto& sum : sums) {
      ASSERT_EQ(sum.size(), sums[0].size());
      ASSERT_EQ(
          std::memcmp(sum.data(), sums[0].data(), sum.size() * sizeof(float)),
          0)
          << row.name;
    }
  }
}

TEST_P(AllReduce, EveryCodecStaysWithinItsBound) {
  const auto [world_size, count] = GetParam();
  for (const CodecRow& row : codec_table()) {
    const auto codec = row.make();
    const auto sums = reduce(*codec, 1);
    // One encoding of each contribution, one of the sum, and float rounding.
    const float largest = 1e4f / 7.0f;
    const auto ranks = static_cast<float>(world_size);
    const float bound = ranks * codec->error_bound(largest) +
        codec->error_bound(ranks * largest) + ranks * ranks * largest * 1e-7f;
    for (std::size_t i = 0; i < count; ++i) {
      double exact = 0;
      for (int rank = 0; rank < world_size; ++rank) {
        exact += static_cast<double>(value_of(rank, i));
      }
      ASSERT_NEAR(sums[0][i], exact, bound) << row.name << " " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes,
    AllReduce,
    testing::Combine(
        testing::Values(1, 2, 3, 4, 7),
        testing::Values(0, 1, 511, 512, 1537, 100003)));

TEST(AllReduceTraffic, SendsTwiceTheOtherRanksShare) {
  // 2 (N-1)/N of the vector, here with shards of equal size.
  const std::size_t count = 4 * 512 * 30;
  for (const CodecRow& row : codec_table()) {
    const auto codec = row.make();
    run_thread_ranks(4, [&](Communicator& communicator) {
      const std::vector<float> mine(count, 1.0f);
      std::vector<float> sum(count);
      ShardedAllReduce all_reduce(*codec, 0, mine, sum);
      communicator.start(all_reduce);
      communicator.wait(all_reduce);
      const std::size_t expected = codec->encoded_bytes(count) * 2 * 3 / 4;
      EXPECT_EQ(communicator.counters().sent.count, expected) << row.name;
      EXPECT_EQ(communicator.counters().received.count, expected) << row.name;
    });
  }
}

TEST(AllReduceOverlap, ManyAtOnceInAnyOrder) {
  const auto codec = make_codec("none");
  run_thread_ranks(3, [&](Communicator& communicator) {
    constexpr int kCount = 9;
    std::vector<std::vector<float>> inputs;
    std::vector<std::vector<float>> sums(kCount, std::vector<float>(5000));
    for (int i = 0; i < kCount; ++i) {
      inputs.emplace_back(5000, static_cast<float>(i + communicator.rank()));
    }
    std::vector<std::unique_ptr<ShardedAllReduce>> all;
    for (std::size_t i = 0; i < kCount; ++i) {
      all.push_back(std::make_unique<ShardedAllReduce>(
          *codec, static_cast<int>(2 * i), inputs[i], sums[i]));
    }
    for (int i = 0; i < kCount; ++i) {
      // Each rank starts them in another order.
      const int which = (i * 2 + communicator.rank() * 4) % kCount;
      communicator.start(*all[static_cast<std::size_t>(which)]);
    }
    for (int i = 0; i < kCount; ++i) {
      communicator.wait(*all[static_cast<std::size_t>(i)]);
      EXPECT_EQ(
          sums[static_cast<std::size_t>(i)][4999],
          static_cast<float>(3 * i + 3));
    }
  });
}

} // namespace
} // namespace egpurun::runtime
