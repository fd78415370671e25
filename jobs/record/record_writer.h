#pragma once

#include <filesystem>
#include <string>

#include "jobs/record/step_record.h"

namespace egpurun::jobs {

// Appends one rank's records to folder/rank-NNNN.jsonl, one write(2) per line,
// so that a kill never leaves half a line between whole ones. Half a last line
// of an earlier kill is cut off on opening. Not thread-safe; owns the file.
class RecordWriter {
 public:
  // Creates the folder. Error kEnvironment if that or opening fails.
  RecordWriter(const std::filesystem::path& folder, int rank);
  ~RecordWriter();
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  // Error kEnvironment when the disk is full; the file then ends with the last
  // whole line.
  void write(const RunRecord& record);
  void write(const StepRecord& record);
  void write(const EvaluationRecord& record);

  const std::filesystem::path& path() const {
    return path_;
  }

 private:
  void append(std::string line);
  void cut_half_line();

  std::filesystem::path path_;
  int rank_;
  int file_ = -1;
};

} // namespace egpurun::jobs
