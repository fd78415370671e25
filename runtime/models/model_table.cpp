#include "runtime/models/model_table.h"

#include <fmt/format.h>

#include <array>

#include "runtime/data/named_row.h"
#include "runtime/models/cnn.h"
#include "runtime/models/mlp.h"
#include "runtime/models/resnet18.h"

namespace egpurun::runtime {
namespace {

constexpr std::array kModels{
    ModelRow{
        "mlp",
        "hidden_layers x (linear to hidden_units, ReLU, dropout), linear",
        make_mlp},
    ModelRow{
        "cnn",
        "two 3x3 convolutions (16, 32) with pooling, dropout, two linear",
        make_cnn},
    ModelRow{
        "resnet18",
        "ResNet-18 for small images: 3x3 stem of stride 1, no max pooling",
        make_resnet18},
};

// The smallest image that survives two poolings, and far more than any of ours.
constexpr std::int64_t kMinImageSize = 4;
constexpr std::int64_t kMaxImageSize = 4096;

} // namespace

std::span<const ModelRow> model_table() {
  return kModels;
}

std::shared_ptr<Model> make_model(
    const jobs::ModelSection& section,
    std::int64_t image_size,
    std::int64_t classes) {
  const ModelRow& row = row_named(model_table(), "model.name", section.name);
  if (image_size < kMinImageSize || image_size > kMaxImageSize || classes < 1) {
    throw Error(
        ErrorKind::kBadInput,
        fmt::format("cannot build the model {}", section.name),
        fmt::format("an image size of {}, {} classes", image_size, classes),
        fmt::format(
            "use an image size of {} to {} and at least one class",
            kMinImageSize,
            kMaxImageSize));
  }
  if (!(section.dropout >= 0 && section.dropout < 1)) {
    throw Error(
        ErrorKind::kBadInput,
        fmt::format("cannot use model.dropout = {}", section.dropout),
        "it is the share of values to drop",
        "write a number from 0 to below 1");
  }
  return row.make(section, image_size, classes);
}

} // namespace egpurun::runtime
