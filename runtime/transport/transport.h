#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "topology/units.h"

namespace egpurun::runtime {

// Names one send or receive that was started and not yet seen to finish.
enum class RequestId : std::uint32_t {
};

// What went through a transport since it was made. Payload only: without the
// headers of MPI, TCP, IP and Ethernet.
struct TransportCounters {
  Bytes sent;
  Bytes received;
};

// Point-to-point bytes between the ranks of a job.
//
// Thread safety: none; all calls come from the communication thread. Buffers
// belong to the caller and must stay untouched until their request is done.
// Messages between two ranks with the same tag arrive in the order sent; sizes
// must agree on both sides. Errors are thrown as Error and end the job.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int world_size() const = 0;

  // Starts a transfer. `tag` is 0 to kMaxTag. Never blocks.
  virtual RequestId start_send(
      int peer,
      int tag,
      std::span<const std::byte> data) = 0;
  virtual RequestId start_receive(
      int peer,
      int tag,
      std::span<std::byte> data) = 0;

  // Moves data and looks which transfers have finished since the last call.
  // Returns how many; take_done() then answers for each.
  virtual std::size_t progress() = 0;
  // True once; the id is free for reuse afterwards.
  virtual bool take_done(RequestId request) = 0;

  virtual TransportCounters counters() const = 0;

  static constexpr int kMaxTag = 32767; // what every MPI guarantees
};

} // namespace egpurun::runtime
