#pragma once

#include <cstdint>
#include <memory>

#include "jobs/spec/job_spec.h"
#include "runtime/models/model.h"

namespace egpurun::runtime {

// ResNet-18 (He et al. 2015, https://arxiv.org/abs/1512.03385) in the form
// usual for small images: 3x3 stem of stride 1 and no max pooling; four stages
// of two basic blocks with 64, 128, 256 and 512 channels. Ignores dropout.
std::shared_ptr<Model> make_resnet18(
    const jobs::ModelSection& section,
    std::int64_t image_size,
    std::int64_t classes);

} // namespace egpurun::runtime
