#include "runtime/transport/lockstep_transport.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <utility>
#include <vector>

namespace egpurun::runtime {

namespace {

using Clock = std::chrono::steady_clock;

class LockstepTransport : public Transport {
 public:
  LockstepTransport(
      std::unique_ptr<Transport> transport,
      int highest_paced_tag,
      const LockstepLimits& limits)
      : transport_(std::move(transport)),
        highest_paced_tag_(highest_paced_tag),
        limits_(limits),
        peers_(static_cast<std::size_t>(transport_->world_size())) {}

  int rank() const override {
    return transport_->rank();
  }

  int world_size() const override {
    return transport_->world_size();
  }

  RequestId start_send(int peer, int tag, std::span<const std::byte> data)
      override {
    const std::size_t slot = free_slot();
    if (tag > highest_paced_tag_) {
      requests_[slot].inner = transport_->start_send(peer, tag, data);
      requests_[slot].started = true;
    } else {
      requests_[slot].started = false;
      peer_of(peer).held.push_back({slot, tag, data});
      release(peer);
    }
    return RequestId{static_cast<std::uint32_t>(slot)};
  }

  RequestId start_receive(int peer, int tag, std::span<std::byte> data)
      override {
    const std::size_t slot = free_slot();
    requests_[slot].inner = transport_->start_receive(peer, tag, data);
    requests_[slot].started = true;
    if (tag <= highest_paced_tag_) {
      requests_[slot].sender = peer;
      requests_[slot].bytes = data.size();
    }
    return RequestId{static_cast<std::uint32_t>(slot)};
  }

  std::size_t progress() override {
    std::size_t moved = transport_->progress();
    for (int peer = 0; peer < world_size(); ++peer) {
      moved += release(peer);
    }
    return moved;
  }

  bool take_done(RequestId id) override {
    const auto slot = static_cast<std::size_t>(id);
    Request& request = requests_[slot];
    if (!request.started || !transport_->take_done(request.inner)) {
      return false;
    }
    if (request.sender >= 0) {
      note_news(peer_of(request.sender), request.bytes);
    }
    request = {};
    free_slots_.push_back(slot);
    return true;
  }

  TransportCounters counters() const override {
    return transport_->counters();
  }

 private:
  struct Request {
    RequestId inner{};
    bool started = false;
    int sender = -1; // of a paced receive
    std::size_t bytes = 0;
  };
  struct HeldSend {
    std::size_t slot;
    int tag;
    std::span<const std::byte> data;
  };
  struct Peer {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    Clock::time_point last_news = Clock::now(); // or last message sent anyway
    // Rate of what comes in, over blocks of messages.
    double bytes_per_second = 0;
    Clock::time_point block_begin = Clock::now();
    int block_messages = 0;
    std::uint64_t block_bytes = 0;
    std::deque<HeldSend> held;
  };

  static constexpr int kBlockMessages = 8;
  // A block may hold a pause, so a lower rate counts only bit by bit.
  static constexpr double kDecay = 0.8;

  static void note_news(Peer& peer, std::size_t bytes) {
    const auto now = Clock::now();
    peer.received += bytes;
    peer.last_news = now;
    peer.block_bytes += bytes;
    if (++peer.block_messages < kBlockMessages) {
      return;
    }
    const double seconds = Seconds(now - peer.block_begin).count();
    peer.bytes_per_second = std::max(
        peer.bytes_per_second * kDecay,
        static_cast<double>(peer.block_bytes) / std::max(seconds, 1e-6));
    peer.block_begin = now;
    peer.block_messages = 0;
    peer.block_bytes = 0;
  }

  std::uint64_t window(const Peer& peer) const {
    const double bytes = std::clamp(
        peer.bytes_per_second * limits_.ahead.count(),
        static_cast<double>(limits_.smallest.count),
        static_cast<double>(limits_.largest.count));
    return static_cast<std::uint64_t>(bytes);
  }

  Peer& peer_of(int peer) {
    return peers_[static_cast<std::size_t>(peer)];
  }

  // Starts what the window lets pass; how many messages.
  std::size_t release(int number) {
    Peer& peer = peer_of(number);
    std::size_t released = 0;
    while (!peer.held.empty() && may_send(peer)) {
      const HeldSend send = peer.held.front();
      peer.held.pop_front();
      peer.sent += send.data.size();
      Request& request = requests_[send.slot];
      request.inner = transport_->start_send(number, send.tag, send.data);
      request.started = true;
      ++released;
    }
    return released;
  }

  bool may_send(Peer& peer) const {
    if (peer.sent < peer.received + window(peer)) {
      return true;
    }
    if (Seconds(Clock::now() - peer.last_news) < limits_.patience) {
      return false;
    }
    peer.last_news = Clock::now();
    return true;
  }

  std::size_t free_slot() {
    if (free_slots_.empty()) {
      requests_.emplace_back();
      return requests_.size() - 1;
    }
    const std::size_t slot = free_slots_.back();
    free_slots_.pop_back();
    return slot;
  }

  std::unique_ptr<Transport> transport_;
  int highest_paced_tag_;
  LockstepLimits limits_;
  std::vector<Peer> peers_; // [rank]
  std::vector<Request> requests_;
  std::vector<std::size_t> free_slots_;
};

} // namespace

std::unique_ptr<Transport> make_lockstep_transport(
    std::unique_ptr<Transport> transport,
    int highest_paced_tag,
    const LockstepLimits& limits) {
  return std::make_unique<LockstepTransport>(
      std::move(transport), highest_paced_tag, limits);
}

} // namespace egpurun::runtime
