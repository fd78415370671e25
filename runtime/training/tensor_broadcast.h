#pragma once

#include <string>

#include "runtime/collectives/communicator.h"
#include "runtime/training/optimizer_table.h"

namespace egpurun::runtime {

// Rank 0's text on every rank.
std::string broadcast_text(Communicator& communicator, const std::string& text);

// Rank 0's tensors, in host memory, with names, shapes, types and bits, on
// every rank. What other ranks pass is ignored.
NamedTensors broadcast_tensors(
    Communicator& communicator,
    const NamedTensors& tensors);

} // namespace egpurun::runtime
