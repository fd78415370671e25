#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/collectives/operation.h"

namespace egpurun::runtime {

// The communication thread of one rank: it makes and owns the transport and is
// the only thread that touches it. Other threads hand it operations.
//
// start(), wait() and the blocking calls may be used from any thread. An
// exception on the communication thread is kept and thrown from the next call.
class Communicator {
 public:
  // Calls `make_transport` on the new thread and returns when it is ready;
  // rethrows its exception.
  explicit Communicator(
      std::function<std::unique_ptr<Transport>()> make_transport);
  // Ends the thread and destroys the transport; for MPI this waits for all
  // ranks, so after a failure of one rank end the process instead.
  ~Communicator();

  int rank() const;
  int world_size() const;

  // Queues an operation, which must live until wait() returned.
  void start(Operation& operation);
  // Blocks until the operation is finished.
  void wait(Operation& operation);

  // Blocking calls, the same one on all ranks at the same point. They may not
  // be mixed with operations that other ranks still work on.
  void broadcast(std::span<std::byte> data, int root);
  // Of any length each; result[r] is rank r's.
  std::vector<std::string> all_gather(const std::string& mine);
  // Like all_gather, but only the root gets the others' data.
  std::vector<std::string> gather(const std::string& mine, int root);
  void barrier();

  TransportCounters counters() const;
  // Time during which at least one operation was under way.
  Seconds busy_time() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace egpurun::runtime
