#pragma once

#include <optional>
#include <stdexcept>
#include <string>

namespace egpurun::topology {

// Who has to act on an error; each kind is one exit status of our programs.
enum class ErrorKind {
  kBadInput = 2, // the user's command line, file or data
  kEnvironment = 3, // something missing on a PC: program, library, host, disk
  kRun = 1, // anything that went wrong while running
};

// Where an error was seen; empty fields are unknown or do not apply.
struct ErrorPlace {
  std::string host{};
  std::optional<int> rank{};
  std::string path{};
  int line = 0; // 1-based; 0 = none
  int column = 0; // 1-based; 0 = none
};

// The one exception type of egpurun. Its text has three parts: what was asked,
// what is there instead, and what to do. Libraries throw it, only programs'
// main files print it.
class Error : public std::runtime_error {
 public:
  Error(
      ErrorKind kind,
      std::string asked,
      std::string found,
      std::string advice,
      ErrorPlace place = {});

  ErrorKind kind() const {
    return kind_;
  }
  const std::string& asked() const {
    return asked_;
  }
  const std::string& found() const {
    return found_;
  }
  const std::string& advice() const {
    return advice_;
  }
  const ErrorPlace& place() const {
    return place_;
  }
  int exit_status() const {
    return static_cast<int>(kind_);
  }

 private:
  ErrorKind kind_;
  std::string asked_;
  std::string found_;
  std::string advice_;
  ErrorPlace place_;
};

// "host pc1, rank 3, job.toml:12:5", with unknown fields left out.
std::string format_place(const ErrorPlace& place);

// The three lines a program prints on stderr:
//   egpu-train: cannot read job file (job.toml:3:1)
//     found: unknown key 'batchsize' in [train]
//     to do: write 'batch_size'; `egpu-train --print-defaults` lists all keys
std::string format_error(const std::string& program, const Error& error);

// Text of an errno value with its name, for example "No space left on device".
std::string errno_text(int errno_value);

} // namespace egpurun::topology

namespace egpurun {
using topology::Error;
using topology::ErrorKind;
using topology::ErrorPlace;
} // namespace egpurun
