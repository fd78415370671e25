#pragma once

#include <functional>
#include <string>

#include "runtime/collectives/communicator.h"
#include "runtime/training/rank_identity.h"
#include "topology/error.h"

namespace egpurun::runtime {

// An Error that every rank of the job holds: all ranks can end in order, and
// one of them, rank 0, tells the user.
class AgreedError : public Error {
 public:
  using Error::Error;
};

// Runs `prepare` on every rank. If it throws Error on any, all ranks throw
// AgreedError: that of the lowest failing rank, with its host and rank, and
// the other failing hosts named.
void prepare_together(
    Communicator& communicator,
    const RankIdentity& identity,
    const std::function<void()>& prepare);

// Throws AgreedError unless `value` is the same on all ranks. `what` is for
// the message, as in "all ranks to load the same data".
void require_equal(
    Communicator& communicator,
    const RankIdentity& identity,
    const std::string& what,
    const std::string& value,
    const std::string& advice);

} // namespace egpurun::runtime
