#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/collectives/communicator.h"
#include "runtime/transport/thread_transport.h"

namespace egpurun::runtime {

// Runs `body` once per rank, each on a thread of its own with its own
// communicator. A rank that throws ends its peers too; the first exception by
// rank is thrown again.
inline void run_thread_ranks(
    int world_size,
    const std::function<void(Communicator&)>& body) {
  auto transports = make_thread_transports(world_size);
  std::vector<std::exception_ptr> failures(transports.size());
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < transports.size(); ++rank) {
    threads.emplace_back([&, rank] {
      try {
        Communicator communicator([&] { return std::move(transports[rank]); });
        body(communicator);
      } catch (...) {
        failures[rank] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) {
      std::rethrow_exception(failure);
    }
  }
}

} // namespace egpurun::runtime
