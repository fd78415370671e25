#include "jobs/record/record_json.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "jobs/record/record_fields.h"
#include "topology/error.h"

namespace egpurun::jobs {

namespace {

using Json = nlohmann::ordered_json;

// ---- writing

Json json_of(const std::string& value) {
  return value;
}
Json json_of(int value) {
  return value;
}
Json json_of(std::int64_t value) {
  return value;
}
Json json_of(Bytes value) {
  return value.count;
}
Json json_of(double value) {
  if (std::isnan(value)) {
    return "nan"; // JSON has no such numbers
  }
  if (std::isinf(value)) {
    return value > 0 ? "inf" : "-inf";
  }
  return value;
}
Json json_of(Seconds value) {
  constexpr double kTicksPerSecond = 1e7; // of 0.1 us
  return json_of(std::round(value.count() * kTicksPerSecond) / 1e4);
}

template <class Record>
std::string line_of(const char* type, const Record& record) {
  Json line;
  line["type"] = type;
  for_each_field(record, [&](const char* name, const auto& member) {
    line[name] = json_of(member);
  });
  // Names with bytes that are not UTF-8 must not stop a training run.
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// ---- reading; a wrong type gives nothing

void fill(const Json& json, std::optional<std::string>& value) {
  if (json.is_string()) {
    value = json.get<std::string>();
  }
}
void fill(const Json& json, std::optional<std::int64_t>& value) {
  constexpr auto kLargest =
      static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > kLargest) {
    return;
  }
  if (json.is_number_integer()) {
    value = json.get<std::int64_t>();
  }
}
void fill(const Json& json, std::optional<int>& value) {
  std::optional<std::int64_t> wide;
  fill(json, wide);
  if (wide && std::in_range<int>(*wide)) {
    value = static_cast<int>(*wide);
  }
}
void fill(const Json& json, std::optional<Bytes>& value) {
  if (json.is_number_unsigned()) {
    value = Bytes{json.get<std::uint64_t>()};
  }
}
void fill(const Json& json, std::optional<double>& value) {
  if (json.is_number()) {
    value = json.get<double>();
  } else if (json == "nan") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (json == "inf") {
    value = std::numeric_limits<double>::infinity();
  } else if (json == "-inf") {
    value = -std::numeric_limits<double>::infinity();
  }
}
void fill(const Json& json, std::optional<Seconds>& value) {
  std::optional<double> milliseconds;
  fill(json, milliseconds);
  if (milliseconds && std::isfinite(*milliseconds) && *milliseconds >= 0) {
    value = Seconds(*milliseconds / 1e3);
  }
}

[[noreturn]] void refuse(const std::string& found, ErrorPlace place) {
  throw Error(
      ErrorKind::kBadInput,
      "cannot read run record",
      found,
      "give a folder that egpu-train wrote (report.folder), unchanged",
      std::move(place));
}

template <class Record>
Record record_of(const Json& line, const ErrorPlace& place) {
  Record record;
  for_each_field(record, [&](const char* name, auto& member) {
    const auto field = line.find(name);
    if (field == line.end()) {
      refuse(fmt::format("no field '{}'", name), place);
    }
    std::optional<std::remove_reference_t<decltype(member)>> value;
    fill(*field, value);
    if (!value) {
      refuse(fmt::format("{} for field '{}'", field->dump(), name), place);
    }
    member = *value;
  });
  return record;
}

void add_run(RankRecords& records, RunRecord run) {
  if (run.first_step == 0 && !records.runs.empty()) {
    const int earlier =
        records.earlier_runs + static_cast<int>(records.runs.size());
    records = RankRecords{};
    records.earlier_runs = earlier;
  }
  records.runs.push_back(std::move(run));
}

void add_line(RankRecords& records, const Json& line, const ErrorPlace& place) {
  const auto field = line.is_object() ? line.find("type") : line.end();
  if (!line.is_object() || field == line.end()) {
    refuse("a line that is no record", place);
  }
  const Json& type = *field;
  if (type == "run") {
    add_run(records, record_of<RunRecord>(line, place));
  } else if (type == "step") {
    records.steps.push_back(record_of<StepRecord>(line, place));
  } else if (type == "evaluation") {
    records.evaluations.push_back(record_of<EvaluationRecord>(line, place));
  } else {
    refuse(fmt::format("unknown record type {}", type.dump()), place);
  }
}

} // namespace

std::string to_json_line(const RunRecord& record) {
  return line_of("run", record);
}

std::string to_json_line(const StepRecord& record) {
  return line_of("step", record);
}

std::string to_json_line(const EvaluationRecord& record) {
  return line_of("evaluation", record);
}

RankRecords parse_rank_records(std::string_view text, const std::string& path) {
  RankRecords records;
  ErrorPlace place{.path = path};
  while (!text.empty()) {
    ++place.line;
    const std::size_t end = text.find('\n');
    const std::string_view bytes = text.substr(0, end);
    text.remove_prefix(
        end == std::string_view::npos ? text.size() : bytes.size() + 1);
    const Json line = Json::parse(bytes, nullptr, /*allow_exceptions=*/false);
    if (line.is_discarded() && end == std::string_view::npos) {
      ++records.incomplete_lines;
    } else if (line.is_discarded()) {
      refuse("a line that is not JSON", place);
    } else {
      add_line(records, line, place);
    }
  }
  return records;
}

} // namespace egpurun::jobs
