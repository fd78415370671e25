#include "jobs/plan/bucket_plan.h"

#include <gtest/gtest.h>

namespace egpurun::jobs {
namespace {

using Sizes = std::vector<std::size_t>;

const BucketLimits kLimits{.first = Bytes{400}, .others = Bytes{4000}};

TEST(BucketPlan, EveryTensorOnceAndInOrder) {
  const Sizes sizes{10, 80, 30, 2000, 1, 1, 990, 20};
  const auto buckets = plan_buckets(sizes, kLimits);
  std::size_t next = 0;
  for (const Bucket& bucket : buckets) {
    std::size_t elements = 0;
    for (const std::size_t tensor : bucket.tensors) {
      EXPECT_EQ(tensor, next++);
      elements += sizes[tensor];
    }
    EXPECT_EQ(bucket.elements, elements);
  }
  EXPECT_EQ(next, sizes.size());
}

TEST(BucketPlan, FirstBucketHasItsOwnLimit) {
  // 400 bytes are 100 elements, 4000 are 1000.
  const auto buckets = plan_buckets(Sizes{50, 50, 50, 950, 1}, kLimits);
  ASSERT_EQ(buckets.size(), 3u);
  EXPECT_EQ(buckets[0].tensors, (Sizes{0, 1}));
  EXPECT_EQ(buckets[1].tensors, (Sizes{2, 3}));
  EXPECT_EQ(buckets[2].tensors, (Sizes{4}));
}

TEST(BucketPlan, TensorAboveTheLimitStandsAlone) {
  const auto buckets = plan_buckets(Sizes{5000, 10, 5000, 10}, kLimits);
  ASSERT_EQ(buckets.size(), 4u);
  EXPECT_EQ(buckets[2].tensors, (Sizes{2}));
}

TEST(BucketPlan, NothingGivesNothing) {
  EXPECT_TRUE(plan_buckets(Sizes{}, kLimits).empty());
}

} // namespace
} // namespace egpurun::jobs
