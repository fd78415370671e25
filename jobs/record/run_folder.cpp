#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <regex>

#include "jobs/record/record_json.h"
#include "topology/error.h"

namespace egpurun::jobs {

namespace {

[[noreturn]] void refuse(
    const std::filesystem::path& folder,
    const std::string& found) {
  throw Error(
      ErrorKind::kBadInput,
      "cannot read a run",
      found,
      "give the report.folder of a job that has run",
      {.path = folder.string()});
}

// The rank in "rank-0012.jsonl".
std::optional<int> rank_of(const std::string& file_name) {
  static const std::regex kName("rank-([0-9]{4,7})\\.jsonl");
  std::smatch match;
  if (!std::regex_match(file_name, match, kName)) {
    return std::nullopt;
  }
  return std::stoi(match[1]);
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) {
    refuse(path, "a file that cannot be read");
  }
  return text;
}

std::map<int, std::filesystem::path> record_files(
    const std::filesystem::path& folder) {
  std::error_code failure;
  std::filesystem::directory_iterator entries(folder, failure);
  if (failure) {
    refuse(folder, failure.message());
  }
  std::map<int, std::filesystem::path> files;
  for (const auto& entry : entries) {
    const auto rank = rank_of(entry.path().filename().string());
    if (rank && entry.is_regular_file(failure)) {
      files[*rank] = entry.path();
    }
  }
  return files;
}

} // namespace

std::filesystem::path record_path(
    const std::filesystem::path& folder,
    int rank) {
  return folder / fmt::format("rank-{:04}.jsonl", rank);
}

std::vector<RankRecords> read_run_folder(const std::filesystem::path& folder) {
  std::vector<RankRecords> ranks;
  for (const auto& [rank, path] : record_files(folder)) {
    RankRecords records = parse_rank_records(read_text(path), path.string());
    if (records.runs.empty() && records.steps.empty()) {
      continue; // killed before its first line was written
    }
    if (records.runs.empty() || records.runs.back().rank != rank) {
      refuse(path, fmt::format("no run record of rank {} in it", rank));
    }
    ranks.push_back(std::move(records));
  }
  if (ranks.empty()) {
    refuse(folder, "no records (rank-0000.jsonl and so on) in it");
  }
  return ranks;
}

} // namespace egpurun::jobs
