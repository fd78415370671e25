#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/record/step_record.h"

namespace egpurun::jobs {

// A rank's record file rank-NNNN.jsonl: one JSON object per line, "type" is
// "run", "step" or "evaluation", other fields are named like the members of
// step_record.h. Times are milliseconds (step_ms for step_time, 0.1 us steps),
// Bytes are whole numbers, a loss that is no number is "nan", "inf" or "-inf".

// One line without its end.
std::string to_json_line(const RunRecord& record);
std::string to_json_line(const StepRecord& record);
std::string to_json_line(const EvaluationRecord& record);

// Reads a whole file's text. A run that starts at step 0 drops what came before
// it (counted in earlier_runs). Half a last line is dropped and counted, any
// other bad line is Error kBadInput with path:line. Unknown fields are skipped.
RankRecords parse_rank_records(std::string_view text, const std::string& path);

// The file of one rank in a run folder.
std::filesystem::path record_path(
    const std::filesystem::path& folder,
    int rank);

// All ranks of a run folder in rank order; files of other names are skipped.
// Error kBadInput without a folder or without any record in it.
std::vector<RankRecords> read_run_folder(const std::filesystem::path& folder);

} // namespace egpurun::jobs
