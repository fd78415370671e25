#include "runtime/data/dataset_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "runtime/data/fashion_mnist.h"
#include "runtime/data/named_row.h"
#include "runtime/data/synthetic_images.h"

namespace egpurun::runtime {
namespace {

constexpr std::array kDatasets{
    DatasetRow{
        "fashion-mnist",
        "70,000 grey 28x28 photos of clothes in 10 classes (IDX files)",
        load_fashion_mnist},
    DatasetRow{
        "synthetic",
        "generated 28x28 images of 10 classes, for tests without data files; "
        "not real data",
        generate_synthetic_images},
};

} // namespace

std::span<const DatasetRow> dataset_table() {
  return kDatasets;
}

DatasetPair load_dataset(const jobs::DataSection& data) {
  const DatasetRow& row = row_named(dataset_table(), "data.name", data.name);
  DatasetPair pair = row.load(data);
  const std::int64_t largest = std::max(pair.train.height, pair.train.width);
  if (data.image_size < largest) {
    throw Error(
        ErrorKind::kBadInput,
        fmt::format("cannot use data.image_size = {}", data.image_size),
        fmt::format("images of {} are {} pixels large", data.name, largest),
        fmt::format("write {} or more", largest));
  }
  return pair;
}

} // namespace egpurun::runtime
