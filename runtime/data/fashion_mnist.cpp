#include "runtime/data/fashion_mnist.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

#include "runtime/data/idx_file.h"
#include "topology/error.h"

namespace egpurun::runtime {
namespace {

constexpr std::int64_t kClasses = 10;

// The gzipped file if it is there or neither is, else the plain one.
std::string data_file(const std::string& folder, const std::string& name) {
  const std::filesystem::path gzipped =
      std::filesystem::path(folder) / (name + ".gz");
  const std::filesystem::path plain = std::filesystem::path(folder) / name;
  std::error_code ignored;
  if (!std::filesystem::exists(gzipped, ignored) &&
      std::filesystem::exists(plain, ignored)) {
    return plain.string();
  }
  return gzipped.string();
}

Error content_error(const std::string& path, std::string found) {
  return Error(
      ErrorKind::kBadInput,
      "cannot use the data file",
      std::move(found),
      "get fresh copies of the data set's files, all from one place",
      {{}, {}, path});
}

void check_labels(const IdxArray& labels, const std::string& path) {
  const auto wrong =
      std::find_if(labels.values.begin(), labels.values.end(), [](auto label) {
        return label >= kClasses;
      });
  if (wrong != labels.values.end()) {
    throw content_error(
        path,
        fmt::format(
            "label {} at sample {}, but there are {} classes",
            *wrong,
            wrong - labels.values.begin(),
            kClasses));
  }
}

void keep_first(
    ImageDataset& dataset,
    std::int64_t samples,
    const std::string& key,
    const std::string& path) {
  if (samples == 0) {
    return;
  }
  if (samples < 0 || samples > dataset.count) {
    throw Error(
        ErrorKind::kBadInput,
        fmt::format("cannot use {} = {}", key, samples),
        fmt::format("the data set has {} samples", dataset.count),
        "write a smaller number, or 0 for all",
        {{}, {}, path});
  }
  dataset.count = samples;
  const std::int64_t pixels = samples * dataset.height * dataset.width;
  dataset.pixels.resize(static_cast<std::size_t>(pixels));
  dataset.labels.resize(static_cast<std::size_t>(samples));
}

ImageDataset load_part(const std::string& folder, const std::string& prefix) {
  const auto images_path = data_file(folder, prefix + "-images-idx3-ubyte");
  const auto labels_path = data_file(folder, prefix + "-labels-idx1-ubyte");
  IdxArray images = read_idx_file(images_path, 3);
  IdxArray labels = read_idx_file(labels_path, 1);
  if (images.shape[0] != labels.shape[0]) {
    throw content_error(
        labels_path,
        fmt::format(
            "{} labels for {} images", labels.shape[0], images.shape[0]));
  }
  if (images.values.empty()) {
    throw content_error(images_path, "no image at all");
  }
  check_labels(labels, labels_path);
  ImageDataset dataset;
  dataset.count = images.shape[0];
  dataset.height = images.shape[1];
  dataset.width = images.shape[2];
  dataset.classes = kClasses;
  dataset.pixels = std::move(images.values);
  dataset.labels = std::move(labels.values);
  return dataset;
}

} // namespace

DatasetPair load_fashion_mnist(const jobs::DataSection& data) {
  DatasetPair pair;
  pair.train = load_part(data.folder, "train");
  pair.test = load_part(data.folder, "t10k");
  if (pair.train.height != pair.test.height ||
      pair.train.width != pair.test.width) {
    throw content_error(
        data.folder, "train and test images differ in height or width");
  }
  keep_first(pair.train, data.train_samples, "data.train_samples", data.folder);
  keep_first(pair.test, data.test_samples, "data.test_samples", data.folder);
  return pair;
}

} // namespace egpurun::runtime
