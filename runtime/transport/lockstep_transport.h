#pragma once

#include <memory>

#include "runtime/transport/transport.h"

namespace egpurun::runtime {

// Wraps a transport so that the two directions between a pair of ranks keep
// step: gradients are sent at most `window` bytes ahead of what came back from
// the same peer.
//
// Without it the direction that TCP happens to favour fills the queue of a slow
// link; the other's acknowledgements wait behind it, its small congestion
// window then leaves its own link idle (measured at 0.1 Gbit/s: RTT 36 ms, 22
// of 100 Mbit/s), and a step lasts as long as the slower direction.
// The window is no promise: after `patience` without anything from that peer
// one more message goes, so unequal traffic is slowed but never stuck.
// Tags above `highest_paced_tag` are not held back.
std::unique_ptr<Transport> make_lockstep_transport(
    std::unique_ptr<Transport> transport,
    int highest_paced_tag,
    Bytes window,
    Seconds patience);

} // namespace egpurun::runtime
