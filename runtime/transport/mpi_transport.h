#pragma once

#include <memory>
#include <vector>

#include "runtime/transport/transport.h"

namespace egpurun::runtime {

// Transport over MPI point-to-point messages on a communicator of its own.
// Initialises MPI (MPI_THREAD_SERIALIZED) when made and finalises it when
// destroyed, so all of MPI's life is on the thread that owns this object.
// Throws Error (kEnvironment) when MPI cannot start.
std::unique_ptr<Transport> make_mpi_transport();

} // namespace egpurun::runtime
