#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace egpurun::jobs {

// What the user wants: a job file's content after defaults are filled in.
// One member per key; jobs/spec/job_keys.cpp holds the table with each key's
// name, limits and description. Section and key names equal the member names.

struct JobSection {
  std::string name = "job";
  std::int64_t seed = 1; // weights, shuffling and dropout

  bool operator==(const JobSection&) const = default;
};

struct HostsSection {
  std::vector<std::string> list; // "pc1" or "pc1:2" (2 slots)
  std::string hostfile; // an mpirun hostfile, instead of list
  std::int64_t ranks = 0; // 0 = one per slot
  std::string network; // CIDR or interface for MPI, "" = mpirun's own choice

  bool operator==(const HostsSection&) const = default;
};

struct ModelSection {
  std::string name = "cnn"; // a row of runtime/models/model_table.cpp
  std::int64_t hidden_units = 256; // mlp
  std::int64_t hidden_layers = 2; // mlp
  double dropout = 0.0;

  bool operator==(const ModelSection&) const = default;
};

struct DataSection {
  std::string name = "fashion-mnist";
  std::string folder = "/usr/share/datasets/fashion-mnist";
  std::int64_t image_size = 28; // pixels; larger than 28 pads with zeros
  std::int64_t train_samples = 0; // first so many only; 0 = all
  std::int64_t test_samples = 0; // first so many only; 0 = all
  bool shuffle = true;

  bool operator==(const DataSection&) const = default;
};

struct TrainSection {
  std::int64_t epochs = 2;
  std::int64_t max_steps = 0; // stop after so many steps in all; 0 = no limit
  std::int64_t batch_size = 128; // global: samples of one step over all ranks
  std::string optimizer = "sgd"; // sgd or adamw
  double learning_rate = 0.05;
  double momentum = 0.9; // sgd
  double weight_decay = 0.0;
  double beta1 = 0.9; // adamw
  double beta2 = 0.999; // adamw
  double epsilon = 1e-8; // adamw
  std::string schedule = "constant"; // constant or cosine
  std::int64_t warmup_steps = 0; // linear warm-up before the schedule
  std::int64_t evaluate_every_epochs = 1; // 0 = only after the last epoch
  std::string device = "auto"; // auto, cpu or cuda
  std::int64_t threads = 0; // CPU threads per rank; 0 = share of the PC's cores

  bool operator==(const TrainSection&) const = default;
};

struct GradientsSection {
  std::string codec = "none"; // a row of runtime/codecs/codec_table.cpp
  std::int64_t first_bucket_kib = 256; // size limit of the first bucket
  std::int64_t bucket_kib = 4096; // size limit of the others

  bool operator==(const GradientsSection&) const = default;
};

struct CheckpointSection {
  std::string folder; // "" = no checkpoints
  std::int64_t every_steps = 0; // 0 = only at the ends of epochs
  std::int64_t every_epochs = 1; // 0 = only by steps
  std::int64_t keep = 3;
  std::string resume = "auto"; // auto, never or require

  bool operator==(const CheckpointSection&) const = default;
};

struct ReportSection {
  std::string folder; // "" = no step records
  std::string progress = "auto"; // auto (a terminal only), always, never

  bool operator==(const ReportSection&) const = default;
};

struct JobSpec {
  JobSection job;
  HostsSection hosts;
  ModelSection model;
  DataSection data;
  TrainSection train;
  GradientsSection gradients;
  CheckpointSection checkpoint;
  ReportSection report;

  bool operator==(const JobSpec&) const = default;
};

} // namespace egpurun::jobs
