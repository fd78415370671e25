#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "runtime/data/dataset.h"

namespace egpurun::runtime {

// Samples as a model takes them, on the CPU.
struct Batch {
  at::Tensor images; // [n, 1, image_size, image_size] float32
  at::Tensor labels; // [n] int64
};

// The samples at `indices` (n = 0 works). Pixels become
// (pixel / 255 - 0.2860) / 0.3530 (mean and deviation of Fashion-MNIST), then
// images are centred and padded with 0. Throws Error for an index outside the
// data set and for images larger than image_size.
Batch make_batch(
    const ImageDataset& dataset,
    std::span<const std::int64_t> indices,
    std::int64_t image_size);

} // namespace egpurun::runtime
