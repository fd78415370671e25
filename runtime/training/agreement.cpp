#include "runtime/training/agreement.h"

#include <fmt/format.h>

#include <exception>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

namespace egpurun::runtime {

namespace {

using nlohmann::json;

std::string to_text(const Error& error, const RankIdentity& identity) {
  return json{
      {"kind", static_cast<int>(error.kind())},
      {"asked", error.asked()},
      {"found", error.found()},
      {"advice", error.advice()},
      {"host", identity.host},
      {"rank", identity.rank},
      {"path", error.place().path},
      {"line", error.place().line},
      {"column", error.place().column}}
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

AgreedError from_text(const std::string& text, const std::string& others) {
  const json fields = json::parse(text);
  return AgreedError(
      static_cast<ErrorKind>(fields["kind"].get<int>()),
      fields["asked"],
      fields["found"].get<std::string>() + others,
      fields["advice"],
      {.host = fields["host"],
       .rank = fields["rank"].get<int>(),
       .path = fields["path"],
       .line = fields["line"],
       .column = fields["column"]});
}

// "" or " (also on pc2 rank 1, pc3 rank 2)".
std::string other_failures(const std::vector<std::string>& failures) {
  std::string names;
  bool first = true;
  for (const std::string& failure : failures) {
    if (failure.empty()) {
      continue;
    }
    if (!std::exchange(first, false)) {
      const json fields = json::parse(failure);
      names += fmt::format(
          "{}{} rank {}",
          names.empty() ? "" : ", ",
          fields["host"].get<std::string>(),
          fields["rank"].get<int>());
    }
  }
  return names.empty() ? "" : fmt::format(" (also failed: {})", names);
}

} // namespace

void prepare_together(
    Communicator& communicator,
    const RankIdentity& identity,
    const std::function<void()>& prepare) {
  std::string failure;
  try {
    prepare();
  } catch (const Error& error) {
    failure = to_text(error, identity);
  } catch (const std::exception& problem) {
    failure = to_text(
        Error(
            ErrorKind::kRun,
            "prepare the job",
            problem.what(),
            "see the message; it comes from a library that egpu-train uses"),
        identity);
  }
  const std::vector<std::string> failures = communicator.all_gather(failure);
  for (const std::string& text : failures) {
    if (!text.empty()) {
      throw from_text(text, other_failures(failures));
    }
  }
}

void require_equal(
    Communicator& communicator,
    const RankIdentity& identity,
    const std::string& what,
    const std::string& value,
    const std::string& advice) {
  const std::vector<std::string> values = communicator.all_gather(value);
  const std::vector<std::string> hosts = communicator.all_gather(identity.host);
  for (std::size_t rank = 1; rank < values.size(); ++rank) {
    if (values[rank] != values[0]) {
      throw AgreedError(
          ErrorKind::kEnvironment,
          what,
          fmt::format(
              "rank 0 on {} has {}, rank {} on {} has {}",
              hosts[0],
              values[0],
              rank,
              hosts[rank],
              values[rank]),
          advice,
          {.host = hosts[rank],
           .rank = static_cast<int>(rank),
           .path = {},
           .line = 0,
           .column = 0});
    }
  }
}

} // namespace egpurun::runtime
