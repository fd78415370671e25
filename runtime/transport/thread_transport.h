#pragma once

#include <memory>
#include <vector>

#include "runtime/transport/transport.h"

namespace egpurun::runtime {

// Transports for `world_size` ranks that are threads of this process; element
// r belongs to rank r. For tests and for a job of one rank without mpirun.
// Messages are copied when sent, so a send is done at once. A receive whose
// size differs from its message throws Error.
std::vector<std::unique_ptr<Transport>> make_thread_transports(int world_size);

} // namespace egpurun::runtime
