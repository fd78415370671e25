#include "runtime/data/synthetic_images.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "runtime/data/random_numbers.h"
#include "topology/error.h"

namespace egpurun::runtime {
namespace {

constexpr int kSide = 28;
constexpr int kClasses = 10;
constexpr int kGrid = 7; // templates are a 7x7 grid, interpolated
constexpr int kCell = kSide / kGrid;
constexpr int kMaxShift = 2;
constexpr int kNoise = 96; // each pixel +- this, triangular
constexpr std::uint64_t kSeed = 20170825;
constexpr std::int64_t kMaxSamples = 10'000'000;

using Template = std::array<int, kSide * kSide>;

// Bilinear interpolation between random grid values, which wraps around.
Template make_template(std::uint64_t seed) {
  SplitMix64 random(seed);
  std::array<int, kGrid * kGrid> grid{};
  for (int& value : grid) {
    value = static_cast<int>(random.below(256));
  }
  const auto at = [&](int row, int column) {
    return grid[static_cast<std::size_t>(
        (row % kGrid) * kGrid + column % kGrid)];
  };
  Template image{};
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) {
      const int row = y / kCell, column = x / kCell;
      const int down = y % kCell, right = x % kCell;
      const int top =
          at(row, column) * (kCell - right) + at(row, column + 1) * right;
      const int bottom = at(row + 1, column) * (kCell - right) +
          at(row + 1, column + 1) * right;
      image[static_cast<std::size_t>(y * kSide + x)] =
          (top * (kCell - down) + bottom * down) / (kCell * kCell);
    }
  }
  return image;
}

void draw_image(
    const Template& source,
    SplitMix64& random,
    std::uint8_t* target) {
  const auto shift = [&random] {
    return static_cast<int>(random.below(2 * kMaxShift + 1)) - kMaxShift;
  };
  const int down = shift(), right = shift();
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) {
      const int row = (y + down + kSide) % kSide;
      const int column = (x + right + kSide) % kSide;
      const std::uint64_t dice = random.next();
      const int noise = static_cast<int>((dice & 0xFFFF) % (kNoise + 1)) -
          static_cast<int>((dice >> 32) % (kNoise + 1));
      const int value =
          source[static_cast<std::size_t>(row * kSide + column)] + noise;
      *target++ = static_cast<std::uint8_t>(std::clamp(value, 0, 255));
    }
  }
}

ImageDataset generate(
    const std::array<Template, kClasses>& templates,
    std::int64_t count,
    std::uint64_t seed) {
  ImageDataset dataset;
  dataset.count = count;
  dataset.height = kSide;
  dataset.width = kSide;
  dataset.classes = kClasses;
  dataset.pixels.resize(static_cast<std::size_t>(count) * kSide * kSide);
  dataset.labels.resize(static_cast<std::size_t>(count));
  SplitMix64 random(seed);
  std::uint8_t* target = dataset.pixels.data();
  for (std::uint8_t& label : dataset.labels) {
    label = static_cast<std::uint8_t>(random.below(kClasses));
    draw_image(templates[label], random, target);
    target += kSide * kSide;
  }
  return dataset;
}

std::int64_t sample_count(
    std::int64_t wanted,
    std::int64_t otherwise,
    const char* key) {
  if (wanted < 0 || wanted > kMaxSamples) {
    throw Error(
        ErrorKind::kBadInput,
        fmt::format("cannot use {} = {}", key, wanted),
        fmt::format("0 to {} images can be generated", kMaxSamples),
        "write a number in this range");
  }
  return wanted == 0 ? otherwise : wanted;
}

} // namespace

DatasetPair generate_synthetic_images(const jobs::DataSection& data) {
  std::array<Template, kClasses> templates{};
  for (std::size_t i = 0; i < templates.size(); ++i) {
    templates[i] = make_template(stream_seed(kSeed, i));
  }
  return {
      .train = generate(
          templates,
          sample_count(data.train_samples, 10000, "data.train_samples"),
          stream_seed(kSeed, 100)),
      .test = generate(
          templates,
          sample_count(data.test_samples, 2000, "data.test_samples"),
          stream_seed(kSeed, 101)),
  };
}

} // namespace egpurun::runtime
