#pragma once

#include <string>

#include "jobs/report/run_report.h"

namespace egpurun::jobs {

// The tables egpu-report prints; every number's unit stands in its row's or
// column's title.
std::string format_report(const RunReport& report);

// The same as one JSON object, units in the names; a loss that is no number is
// null.
std::string format_report_json(const RunReport& report);

} // namespace egpurun::jobs
