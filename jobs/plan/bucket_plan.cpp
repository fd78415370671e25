#include "jobs/plan/bucket_plan.h"

namespace egpurun::jobs {

std::vector<Bucket> plan_buckets(
    std::span<const std::size_t> elements,
    const BucketLimits& limits) {
  std::vector<Bucket> buckets;
  Bucket open;
  for (std::size_t tensor = 0; tensor < elements.size(); ++tensor) {
    const Bytes limit = buckets.empty() ? limits.first : limits.others;
    const std::size_t bytes =
        (open.elements + elements[tensor]) * sizeof(float);
    if (!open.tensors.empty() && bytes > limit.count) {
      buckets.push_back(open);
      open = {};
    }
    open.tensors.push_back(tensor);
    open.elements += elements[tensor];
  }
  if (!open.tensors.empty()) {
    buckets.push_back(open);
  }
  return buckets;
}

} // namespace egpurun::jobs
