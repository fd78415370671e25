#pragma once

#include <cstdint>
#include <vector>

namespace egpurun::runtime {

// Labelled grey images. pixels: [count, height, width], labels: [count], each
// in [0, classes).
struct ImageDataset {
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> labels;
  std::int64_t count = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t classes = 0;
};

struct DatasetPair {
  ImageDataset train;
  ImageDataset test;
};

} // namespace egpurun::runtime
