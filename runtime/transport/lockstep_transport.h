#pragma once

#include <memory>

#include "runtime/transport/transport.h"

namespace egpurun::runtime {

// How far a rank may send ahead of what came back from a peer.
struct LockstepLimits {
  // The window is what comes in from that peer in `ahead`, within these bounds.
  // Defaults by measurement: at 0.1 Gbit/s 512 KiB lengthen a step by 2.5 %
  // against 128 KiB, at 10 Gbit/s 128 KiB do so by 15 % against 512 KiB.
  Seconds ahead{0.010};
  Bytes smallest{128 * 1024};
  Bytes largest{512 * 1024};
  // After that long without anything from the peer one more message goes.
  Seconds patience{0.050};
};

// Wraps a transport so that the two directions between a pair of ranks keep
// step: gradients are sent only a window ahead of what came back.
//
// Without it the direction that TCP happens to favour fills the queue of a slow
// link; the other's acknowledgements wait behind it, its small congestion
// window then leaves its own link idle (measured at 0.1 Gbit/s: RTT 36 ms, 22
// of 100 Mbit/s), and a step lasts as long as the slower direction. The window
// is no promise: unequal traffic is slowed but never stuck.
// Tags above `highest_paced_tag` are not held back.
std::unique_ptr<Transport> make_lockstep_transport(
    std::unique_ptr<Transport> transport,
    int highest_paced_tag,
    const LockstepLimits& limits = {});

} // namespace egpurun::runtime
