#pragma once

#include "runtime/transport/transport.h"

namespace egpurun::runtime {

// Something the communication thread carries out piece by piece, side by side
// with others. Every rank must start the matching operation; tags keep those
// under way at the same time apart.
class Operation {
 public:
  virtual ~Operation() = default;

  // Posts the first transfers. Called once per run; an operation can be run
  // again after it finished.
  virtual void start(Transport& transport) = 0;
  // Does what has become possible, never waits. True when finished.
  virtual bool advance(Transport& transport) = 0;
};

} // namespace egpurun::runtime
