#pragma once

#include <span>
#include <string_view>

#include "jobs/spec/job_spec.h"
#include "runtime/data/dataset.h"

namespace egpurun::runtime {

// One data set that data.name can name.
struct DatasetRow {
  std::string_view name;
  std::string_view description;
  DatasetPair (*load)(const jobs::DataSection&);
};

std::span<const DatasetRow> dataset_table();

// Loads what data.name names; throws Error for an unknown name, for unusable
// files, and if data.image_size is smaller than the images.
DatasetPair load_dataset(const jobs::DataSection& data);

} // namespace egpurun::runtime
