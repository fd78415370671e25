#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "topology/units.h"

namespace egpurun::jobs {

struct BucketLimits {
  Bytes first; // the first bucket is small so that sending starts early
  Bytes others;
};

// Gradients that travel together, as indices into the caller's list.
struct Bucket {
  std::vector<std::size_t> tensors; // in ready order
  std::size_t elements = 0;

  bool operator==(const Bucket&) const = default;
};

// Cuts a list of gradients, given by element counts in the order in which
// backward makes them ready, into buckets of consecutive ones. A bucket ends
// before it would exceed its limit; a tensor larger than the limit gets a
// bucket of its own. Pure: the same on every rank.
std::vector<Bucket> plan_buckets(
    std::span<const std::size_t> elements,
    const BucketLimits& limits);

} // namespace egpurun::jobs
