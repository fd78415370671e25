#include "runtime/training/rank_identity.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "jobs/contract/rank_environment.h"
#include "topology/error.h"

namespace egpurun::runtime {

namespace {

// The first of `names` that is set.
int read_number(std::initializer_list<const char*> names, int otherwise) {
  for (const char* name : names) {
    const char* text = std::getenv(name);
    if (text == nullptr) {
      continue;
    }
    int value = 0;
    const char* end = text + std::strlen(text);
    const auto [stop, problem] = std::from_chars(text, end, value);
    if (problem != std::errc() || stop != end || value < 0) {
      throw Error(
          ErrorKind::kEnvironment,
          fmt::format("the environment variable {}", name),
          fmt::format("its value \"{}\" is not a number from 0", text),
          "unset it, or start the job with egpurun or mpirun");
    }
    return value;
  }
  return otherwise;
}

std::string host_name() {
  if (const char* planned = std::getenv(jobs::kHostVariable)) {
    return planned;
  }
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

} // namespace

RankIdentity read_rank_identity() {
  RankIdentity identity;
  identity.under_mpirun = std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr;
  identity.host = host_name();
  if (!identity.under_mpirun) {
    return identity;
  }
  identity.rank = read_number({"OMPI_COMM_WORLD_RANK"}, 0);
  identity.world_size = read_number({"OMPI_COMM_WORLD_SIZE"}, 1);
  identity.local_rank =
      read_number({jobs::kLocalRankVariable, "OMPI_COMM_WORLD_LOCAL_RANK"}, 0);
  identity.local_world_size = read_number(
      {jobs::kLocalWorldSizeVariable, "OMPI_COMM_WORLD_LOCAL_SIZE"}, 1);
  return identity;
}

} // namespace egpurun::runtime
