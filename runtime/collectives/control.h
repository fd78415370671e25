#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "runtime/transport/transport.h"

namespace egpurun::runtime {

// Waits a little longer each time it is asked in a row: first gives the core
// away, then sleeps. Busy polling would take the core from the kernel's own
// network work and from the training threads.
class Backoff {
 public:
  void reset() {
    rounds_ = 0;
  }
  void pause();

 private:
  int rounds_ = 0;
};

// Largest single message. Below Open MPI's TCP eager limit of 64 KiB with its
// header, above which each message needs a handshake first and the measured
// rate of a 1 Gbit/s link drops from 0.95 to 0.6.
constexpr std::size_t kMessageBytes = 60 * 1024;

// Tags that control traffic uses; operations use the ones below.
constexpr int kControlTag = Transport::kMaxTag;
constexpr int kLossTag = Transport::kMaxTag - 1;
constexpr int kMaxOperationTag = Transport::kMaxTag - 2;

// Blocking exchanges on the communication thread, for start-up and agreement:
// simple, not fast. All ranks call the same one.
void broadcast_bytes(Transport& transport, std::span<std::byte> data, int root);
// result[r] is rank r's text; empty on other ranks than the root for gather.
std::vector<std::string> gather_text(
    Transport& transport,
    const std::string& mine,
    int root);
std::vector<std::string> all_gather_text(
    Transport& transport,
    const std::string& mine);

} // namespace egpurun::runtime
