#pragma once

#include <cstdint>
#include <memory>

#include "jobs/spec/job_spec.h"
#include "runtime/models/model.h"

namespace egpurun::runtime {

// Two 3x3 convolutions (16, 32 channels), each with ReLU and 2x2 max pooling,
// then linear to 128, ReLU, dropout, linear. image_size >= 4.
std::shared_ptr<Model> make_cnn(
    const jobs::ModelSection& section,
    std::int64_t image_size,
    std::int64_t classes);

} // namespace egpurun::runtime
