#pragma once

#include "jobs/spec/job_spec.h"
#include "runtime/data/dataset.h"

namespace egpurun::runtime {

// Reads {train,t10k}-{images-idx3,labels-idx1}-ubyte[.gz] from data.folder.
// Throws Error (with the path) if a file is missing or not as it should be, or
// if fewer samples are there than data.train_samples or data.test_samples.
DatasetPair load_fashion_mnist(const jobs::DataSection& data);

} // namespace egpurun::runtime
