#include <boost/program_options.hpp>

#include <charconv>
#include <cstdint>
#include <exception>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "jobs/record/record_json.h"
#include "jobs/report/report_text.h"
#include "jobs/report/run_report.h"
#include "topology/error.h"

namespace {

namespace options = boost::program_options;
using egpurun::Error;
using egpurun::ErrorKind;

constexpr char kProgram[] = "egpu-report";
constexpr char kUsage[] =
    "Usage: egpu-report FOLDER [--baseline FOLDER] [--json] [--steps N..M]\n"
    "Reports what a run of egpu-train did, from its report.folder.\n";

options::options_description named_options() {
  options::options_description named("Options");
  named.add_options()("help", "show this text")("version", "show the version")(
      "baseline",
      options::value<std::string>(),
      "report.folder of the same job on one rank, for scaling efficiency")(
      "json", "print one JSON object")(
      "steps",
      options::value<std::string>(),
      "measure steps N to M only, counted from 0")(
      "warmup",
      options::value<std::string>(),
      "steps to leave out after each start; default 5, at most a quarter");
  return named;
}

options::variables_map read_options(int argc, char** argv) {
  options::options_description all;
  all.add(named_options())
      .add_options()("folder", options::value<std::string>());
  options::positional_options_description positions;
  positions.add("folder", 1);
  options::variables_map given;
  try {
    options::store(
        options::command_line_parser(argc, argv)
            .options(all)
            .positional(positions)
            .run(),
        given);
  } catch (const options::error& error) {
    throw Error(
        ErrorKind::kBadInput,
        "cannot read the command line",
        error.what(),
        "`egpu-report --help` lists the options");
  }
  return given;
}

// A whole number from 0 up.
std::int64_t parse_step(const std::string& text, const std::string& option) {
  std::int64_t step = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, step);
  if (result.ec != std::errc() || result.ptr != end || step < 0) {
    throw Error(
        ErrorKind::kBadInput,
        "cannot read " + option,
        "\"" + text + "\"",
        "give a whole number of at least 0; a range as --steps 100..199");
  }
  return step;
}

egpurun::jobs::ReportOptions report_options(
    const options::variables_map& given) {
  egpurun::jobs::ReportOptions chosen;
  if (given.count("warmup") > 0) {
    chosen.warmup_steps =
        parse_step(given["warmup"].as<std::string>(), "--warmup");
  }
  if (given.count("steps") > 0) {
    const std::string range = given["steps"].as<std::string>();
    const std::size_t dots = range.find("..");
    const std::string first = range.substr(0, dots);
    chosen.first_step = parse_step(first, "--steps");
    chosen.last_step = dots == std::string::npos
        ? chosen.first_step
        : parse_step(range.substr(dots + 2), "--steps");
  }
  return chosen;
}

std::string run(int argc, char** argv) {
  const options::variables_map given = read_options(argc, argv);
  if (given.count("help") > 0) {
    std::ostringstream text;
    text << kUsage << "\n" << named_options();
    return text.str();
  }
  if (given.count("version") > 0) {
    return std::string(kProgram) + " " + EGPU_VERSION + "\n";
  }
  if (given.count("folder") == 0) {
    throw Error(
        ErrorKind::kBadInput,
        "cannot report on a run",
        "no folder on the command line",
        "give the report.folder of a job: egpu-report FOLDER");
  }
  const auto read = [&](const char* name) {
    return egpurun::jobs::read_run_folder(given[name].as<std::string>());
  };
  std::optional<std::vector<egpurun::jobs::RankRecords>> baseline;
  if (given.count("baseline") > 0) {
    baseline = read("baseline");
  }
  const auto report = egpurun::jobs::make_report(
      read("folder"), baseline, report_options(given));
  return given.count("json") > 0 ? egpurun::jobs::format_report_json(report)
                                 : egpurun::jobs::format_report(report);
}

} // namespace

int main(int argc, char** argv) {
  try {
    std::cout << run(argc, argv) << std::flush;
    if (!std::cout) {
      throw Error(
          ErrorKind::kEnvironment,
          "cannot print the report",
          "standard output takes no more",
          "free space there, or print to a terminal");
    }
    return 0;
  } catch (const Error& error) {
    std::cerr << egpurun::topology::format_error(kProgram, error);
    return error.exit_status();
  } catch (const std::exception& error) {
    std::cerr << kProgram << ": " << error.what() << "\n";
    return static_cast<int>(ErrorKind::kRun);
  }
}
