#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topology/units.h"

namespace egpurun::jobs {

// First line of a rank's record file: what ran, once per start of the job.
struct RunRecord {
  std::string job_name;
  std::string model;
  std::string codec;
  std::string device; // "cpu" or "cuda: NVIDIA ..."
  std::string host;
  int rank = 0;
  int world_size = 1;
  int local_rank = 0;
  std::int64_t parameters = 0; // elements
  std::int64_t global_batch_size = 0; // samples
  std::int64_t first_step = 0; // > 0 after a resume
  std::string started_at; // UTC, ISO 8601

  bool operator==(const RunRecord&) const = default;
};

// One training step as seen by one rank. Times are this rank's own.
struct StepRecord {
  std::int64_t epoch = 0; // 0-based
  std::int64_t step = 0; // 0-based, over all epochs
  Seconds step_time{0}; // all of the below and what lies between
  Seconds data_time{0}; // getting the batch
  Seconds forward_time{0};
  Seconds backward_time{0}; // until autograd returned
  Seconds exposed_time{0}; // waiting for communication after backward
  Seconds optimizer_time{0};
  Seconds communication_time{0}; // communication thread busy, overlapped or not
  std::int64_t samples = 0; // of this rank
  std::int64_t global_samples = 0; // of all ranks
  double loss = 0; // mean over all ranks' samples
  double learning_rate = 0;
  Bytes gradient_bytes; // before any codec
  Bytes sent_bytes; // payload handed to the transport
  Bytes received_bytes;
  int buckets = 0;

  bool operator==(const StepRecord&) const = default;
};

struct EvaluationRecord {
  std::int64_t epoch = 0;
  std::int64_t step = 0; // steps done so far
  double loss = 0; // mean over all samples
  double accuracy = 0; // share of samples classified right, 0 to 1
  std::int64_t samples = 0;
  Seconds time{0};

  bool operator==(const EvaluationRecord&) const = default;
};

// What one rank wrote for one training: its start and its resumes. A step that
// was trained twice (after a resume) appears twice.
struct RankRecords {
  std::vector<RunRecord> runs;
  std::vector<StepRecord> steps;
  std::vector<EvaluationRecord> evaluations;
  int incomplete_lines = 0; // half a last line, left by a killed run
  int earlier_runs = 0; // starts in the same file before the last step 0
};

} // namespace egpurun::jobs
