#pragma once

#include "jobs/spec/job_spec.h"
#include "runtime/data/dataset.h"

namespace egpurun::runtime {

// Generated 28x28 images of 10 classes, the same on every machine: a smooth
// random template per class, shifted by up to 2 pixels, plus noise. Sizes from
// data.train_samples (0: 10000) and data.test_samples (0: 2000). Accuracy on
// them says nothing about real images.
DatasetPair generate_synthetic_images(const jobs::DataSection& data);

} // namespace egpurun::runtime
