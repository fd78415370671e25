#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "jobs/spec/job_spec.h"
#include "runtime/models/model.h"

namespace egpurun::runtime {

// One network that model.name can name. `make` draws the first weights from
// torch's default generator: seed it before.
struct ModelRow {
  std::string_view name;
  std::string_view description;
  std::shared_ptr<Model> (*make)(
      const jobs::ModelSection& section,
      std::int64_t image_size,
      std::int64_t classes);
};

std::span<const ModelRow> model_table();

// Throws kBadInput for an unknown name, a size that makes no network, and
// model.dropout outside [0, 1).
std::shared_ptr<Model> make_model(
    const jobs::ModelSection& section,
    std::int64_t image_size,
    std::int64_t classes);

} // namespace egpurun::runtime
