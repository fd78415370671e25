// egpu-train: one rank of a training job.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <boost/program_options.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <string>

#include "jobs/contract/rank_environment.h"
#include "jobs/spec/job_file.h"
#include "runtime/codecs/codec_table.h"
#include "runtime/collectives/communicator.h"
#include "runtime/collectives/control.h"
#include "runtime/data/dataset_table.h"
#include "runtime/models/model_table.h"
#include "runtime/training/agreement.h"
#include "runtime/training/learning_rate.h"
#include "runtime/training/optimizer_table.h"
#include "runtime/training/progress.h"
#include "runtime/training/start_export.h"
#include "runtime/training/tensor_broadcast.h"
#include "runtime/training/trainer.h"
#include "runtime/transport/lockstep_transport.h"
#include "runtime/transport/mpi_transport.h"
#include "runtime/transport/thread_transport.h"

namespace {

using namespace egpurun;
namespace options = boost::program_options;

constexpr const char* kProgram = "egpu-train";

template <class Rows>
void print_table(const char* title, const Rows& rows) {
  fmt::print("{}\n", title);
  for (const auto& row : rows) {
    fmt::print("  {:<14} {}\n", row.name, row.description);
  }
}

void print_names() {
  print_table("model.name", runtime::model_table());
  print_table("data.name", runtime::dataset_table());
  print_table("train.optimizer", runtime::optimizer_table());
  print_table("train.schedule", runtime::schedule_table());
  print_table("gradients.codec", runtime::codec_table());
}

runtime::ProgressStyle progress_style(
    const std::string& word,
    bool under_mpirun) {
  if (word == "never") {
    return runtime::ProgressStyle::kQuiet;
  }
  // Open MPI gives ranks a terminal of its own: only egpurun knows the user's.
  const char* terminal = std::getenv(jobs::kTerminalVariable);
  const bool live = terminal != nullptr
      ? std::string(terminal) == "1"
      : !under_mpirun && isatty(STDOUT_FILENO) == 1;
  if (live) {
    return runtime::ProgressStyle::kLive;
  }
  return word == "always" ? runtime::ProgressStyle::kLines
                          : runtime::ProgressStyle::kQuiet;
}

// A file opened later must not take the number of a closed standard stream:
// progress would be printed into it. Writing to these fails, as to closed ones.
void hold_standard_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0) {
      return;
    }
  }
}

int finish_printing() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    throw Error(
        ErrorKind::kEnvironment,
        "print to standard output",
        "it takes no more",
        "free space there, or print to a terminal");
  }
  return 0;
}

// An egpu-train of another MPI than mpirun's would be alone in its world and
// train on its share of the samples only.
void require_all_ranks(
    const runtime::RankIdentity& identity,
    const runtime::Communicator& communicator) {
  if (communicator.rank() != identity.rank ||
      communicator.world_size() != identity.world_size) {
    throw Error(
        ErrorKind::kEnvironment,
        fmt::format(
            "join the job as rank {} of {}",
            identity.rank,
            identity.world_size),
        fmt::format(
            "MPI made it rank {} of {}",
            communicator.rank(),
            communicator.world_size()),
        "start it with the mpirun of the Open MPI it was built with; without "
        "mpirun, unset the variables OMPI_COMM_WORLD_...");
  }
}

// Only rank 0's PC needs the job file.
jobs::JobSpec read_job(
    const std::string& path,
    const runtime::RankIdentity& identity,
    runtime::Communicator& communicator) {
  std::string text;
  runtime::prepare_together(communicator, identity, [&] {
    if (identity.rank == 0) {
      text = jobs::format_job_text(jobs::parse_job_file(path));
    }
  });
  return jobs::parse_job_text(
      runtime::broadcast_text(communicator, text), path);
}

void train(
    const std::string& job_path,
    const runtime::RankIdentity& identity,
    runtime::Communicator& communicator) {
  require_all_ranks(identity, communicator);
  runtime::require_equal(
      communicator,
      identity,
      "all ranks to run the same egpu-train",
      fmt::format("version {}", EGPU_VERSION),
      "install the same version of egpurun on all PCs");
  const jobs::JobSpec spec = read_job(job_path, identity, communicator);
  std::unique_ptr<runtime::TrainObserver> observer;
  if (identity.rank == 0) {
    observer = runtime::make_progress_printer(
        progress_style(spec.report.progress, identity.under_mpirun), std::cout);
  }
  runtime::Trainer(spec, identity, communicator, observer.get()).run();
}

std::unique_ptr<runtime::Transport> make_transport(bool under_mpirun) {
  if (under_mpirun) {
    return runtime::make_lockstep_transport(
        runtime::make_mpi_transport(), runtime::kMaxOperationTag);
  }
  return std::move(runtime::make_thread_transports(1).front());
}

// Ends the process at once: leaving MPI in order would wait for ranks that
// still wait for this one. mpirun ends those.
[[noreturn]] void end_alone(const std::string& message, int status) {
  std::cout.flush();
  std::fputs(message.c_str(), stderr);
  std::fflush(nullptr);
  std::_Exit(status);
}

Error with_rank(const Error& error, const runtime::RankIdentity& identity) {
  ErrorPlace place = error.place();
  place.host = identity.host;
  place.rank = identity.rank;
  return Error(
      error.kind(), error.asked(), error.found(), error.advice(), place);
}

int run_job(const std::string& job_path) {
  const runtime::RankIdentity identity = runtime::read_rank_identity();
  runtime::Communicator communicator(
      [&] { return make_transport(identity.under_mpirun); });
  try {
    train(job_path, identity, communicator);
    communicator.barrier();
    return 0;
  } catch (const runtime::AgreedError& error) {
    if (identity.rank == 0) {
      std::cout.flush();
      std::fputs(topology::format_error(kProgram, error).c_str(), stderr);
    }
    return error.exit_status();
  } catch (const Error& error) {
    end_alone(
        topology::format_error(kProgram, with_rank(error, identity)),
        error.exit_status());
  } catch (const std::exception& problem) {
    const Error error(
        ErrorKind::kRun,
        "train the job",
        problem.what(),
        "the message comes from a library; lower train.batch_size if memory "
        "ran out");
    end_alone(topology::format_error(kProgram, with_rank(error, identity)), 1);
  }
}

int run(int argc, char** argv) {
  options::options_description visible("Options");
  visible.add_options()("help,h", "print this text")(
      "version,V", "print the version")(
      "print-defaults", "print a complete job file with every default")(
      "list", "print the models, data sets, optimizers, schedules and codecs")(
      "export-start",
      options::value<std::string>()->value_name("FOLDER"),
      "write the first weights and the order of samples, and do not train");
  options::options_description all;
  all.add(visible).add_options()("job", options::value<std::string>());
  options::positional_options_description positional;
  positional.add("job", 1);
  options::variables_map chosen;
  try {
    options::store(
        options::command_line_parser(argc, argv)
            .options(all)
            .positional(positional)
            .run(),
        chosen);
  } catch (const options::error& problem) {
    throw Error(
        ErrorKind::kBadInput,
        "read the command line",
        problem.what(),
        "run `egpu-train --help` for the options");
  }
  if (chosen.count("help") != 0) {
    std::cout << "Usage: egpu-train JOB.toml\n"
                 "Trains the job on this PC alone, or as one rank when started "
                 "by egpurun or mpirun.\n\n"
              << visible;
    return finish_printing();
  }
  if (chosen.count("version") != 0) {
    fmt::print("egpu-train {}\n", EGPU_VERSION);
    return finish_printing();
  }
  if (chosen.count("print-defaults") != 0) {
    fmt::print("{}", jobs::default_job_text());
    return finish_printing();
  }
  if (chosen.count("list") != 0) {
    print_names();
    return finish_printing();
  }
  if (chosen.count("job") == 0) {
    throw Error(
        ErrorKind::kBadInput,
        "train a job",
        "no job file on the command line",
        "write `egpu-train JOB.toml`; `egpu-train --print-defaults` makes one");
  }
  const auto job_path = chosen["job"].as<std::string>();
  if (chosen.count("export-start") != 0) {
    runtime::export_start(
        jobs::parse_job_file(job_path),
        chosen["export-start"].as<std::string>());
    return 0;
  }
  return run_job(job_path);
}

} // namespace

int main(int argc, char** argv) {
  hold_standard_streams();
  try {
    return run(argc, argv);
  } catch (const Error& error) {
    std::fputs(topology::format_error(kProgram, error).c_str(), stderr);
    return error.exit_status();
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "%s: %s\n", kProgram, problem.what());
    return 1;
  }
}
