#include "runtime/data/batch.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <array>
#include <cstddef>

#include "topology/error.h"

namespace egpurun::runtime {
namespace {

std::array<float, 256> normalised_values() {
  std::array<float, 256> values{};
  for (std::size_t pixel = 0; pixel < values.size(); ++pixel) {
    values[pixel] = (static_cast<float>(pixel) / 255.0f - 0.2860f) / 0.3530f;
  }
  return values;
}

void check_fits(
    const ImageDataset& dataset,
    std::span<const std::int64_t> indices,
    std::int64_t image_size) {
  const auto fail = [](std::string found) {
    return Error(
        ErrorKind::kRun,
        "cannot make a batch",
        std::move(found),
        "report this as an error of egpurun");
  };
  if (dataset.height > image_size || dataset.width > image_size) {
    throw fail(fmt::format(
        "images of {}x{} for an image size of {}",
        dataset.height,
        dataset.width,
        image_size));
  }
  for (const std::int64_t index : indices) {
    if (index < 0 || index >= dataset.count) {
      throw fail(fmt::format("sample {} of {}", index, dataset.count));
    }
  }
}

} // namespace

Batch make_batch(
    const ImageDataset& dataset,
    std::span<const std::int64_t> indices,
    std::int64_t image_size) {
  static const std::array<float, 256> values = normalised_values();
  check_fits(dataset, indices, image_size);
  const auto count = static_cast<std::int64_t>(indices.size());
  Batch batch{
      at::zeros({count, 1, image_size, image_size}, at::kFloat),
      at::empty({count}, at::kLong)};
  float* image = batch.images.mutable_data_ptr<float>();
  std::int64_t* label = batch.labels.mutable_data_ptr<std::int64_t>();
  const std::int64_t top = (image_size - dataset.height) / 2;
  const std::int64_t left = (image_size - dataset.width) / 2;
  for (const std::int64_t index : indices) {
    const std::uint8_t* pixel =
        dataset.pixels.data() + index * dataset.height * dataset.width;
    for (std::int64_t y = 0; y < dataset.height; ++y) {
      float* row = image + (top + y) * image_size + left;
      for (std::int64_t x = 0; x < dataset.width; ++x) {
        row[x] = values[*pixel++];
      }
    }
    image += image_size * image_size;
    *label++ = dataset.labels[static_cast<std::size_t>(index)];
  }
  return batch;
}

} // namespace egpurun::runtime
