#pragma once

#include <cstdint>
#include <memory>

#include "jobs/spec/job_spec.h"
#include "runtime/models/model.h"

namespace egpurun::runtime {

// Flattens the image, then model.hidden_layers x (linear to
// model.hidden_units, ReLU, dropout), then a linear layer. Throws kBadInput if
// hidden_units < 1 or hidden_layers < 0.
std::shared_ptr<Model> make_mlp(
    const jobs::ModelSection& section,
    std::int64_t image_size,
    std::int64_t classes);

} // namespace egpurun::runtime
