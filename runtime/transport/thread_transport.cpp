#include "runtime/transport/thread_transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "topology/error.h"

namespace egpurun::runtime {

namespace {

using Message = std::vector<std::byte>;

// Messages under way, by (sender, receiver, tag), and which ranks have left.
class Mailboxes {
 public:
  explicit Mailboxes(int world_size)
      : left_(static_cast<std::size_t>(world_size)) {}

  // Everything below is called with this lock held.
  std::unique_lock<std::mutex> lock() {
    return std::unique_lock(mutex_);
  }

  void put(int sender, int receiver, int tag, std::span<const std::byte> data) {
    boxes_[{sender, receiver, tag}].emplace_back(data.begin(), data.end());
  }

  bool get(int sender, int receiver, int tag, Message& message) {
    const auto box = boxes_.find({sender, receiver, tag});
    if (box == boxes_.end() || box->second.empty()) {
      return false;
    }
    message = std::move(box->second.front());
    box->second.pop_front();
    return true;
  }

  void leave(int rank) {
    left_[static_cast<std::size_t>(rank)] = true;
  }

  bool has_left(int rank) const {
    return left_[static_cast<std::size_t>(rank)];
  }

 private:
  std::mutex mutex_;
  std::map<std::tuple<int, int, int>, std::deque<Message>> boxes_;
  std::vector<bool> left_;
};

class ThreadTransport : public Transport {
 public:
  ThreadTransport(std::shared_ptr<Mailboxes> mail, int rank, int world_size)
      : mail_(std::move(mail)), rank_(rank), world_size_(world_size) {}

  ~ThreadTransport() override {
    const auto lock = mail_->lock();
    mail_->leave(rank_);
  }

  int rank() const override {
    return rank_;
  }

  int world_size() const override {
    return world_size_;
  }

  RequestId start_send(int peer, int tag, std::span<const std::byte> data)
      override {
    const auto lock = mail_->lock();
    mail_->put(rank_, peer, tag, data);
    counters_.sent += Bytes{data.size()};
    const RequestId id{next_id_++};
    done_.push_back(id);
    return id;
  }

  RequestId start_receive(int peer, int tag, std::span<std::byte> data)
      override {
    const RequestId id{next_id_++};
    waiting_.push_back({id, peer, tag, data});
    return id;
  }

  std::size_t progress() override {
    std::size_t finished = 0;
    // In order of posting and under one lock, so that messages of one tag keep
    // their order.
    const auto lock = mail_->lock();
    for (auto receive = waiting_.begin(); receive != waiting_.end();) {
      Message message;
      if (!mail_->get(receive->peer, rank_, receive->tag, message)) {
        require_sender(*receive);
        ++receive;
        continue;
      }
      deliver(*receive, message);
      receive = waiting_.erase(receive);
      ++finished;
    }
    return finished;
  }

  bool take_done(RequestId request) override {
    const auto found = std::find(done_.begin(), done_.end(), request);
    if (found == done_.end()) {
      return false;
    }
    done_.erase(found);
    return true;
  }

  TransportCounters counters() const override {
    return counters_;
  }

 private:
  struct Receive {
    RequestId id;
    int peer;
    int tag;
    std::span<std::byte> data;
  };

  // A rank that ended will never send: without this its peers would hang.
  void require_sender(const Receive& receive) const {
    if (mail_->has_left(receive.peer)) {
      throw Error(
          ErrorKind::kRun,
          fmt::format("a message from rank {}", receive.peer),
          "that rank has ended",
          "look for its own error",
          {.host = {}, .rank = rank_, .path = {}, .line = 0, .column = 0});
    }
  }

  void deliver(const Receive& receive, const Message& message) {
    if (message.size() != receive.data.size()) {
      throw Error(
          ErrorKind::kRun,
          fmt::format(
              "a message of {} bytes from rank {}, tag {}",
              receive.data.size(),
              receive.peer,
              receive.tag),
          fmt::format("one of {} bytes came", message.size()),
          "all ranks must run the same job file and version",
          {.host = {}, .rank = rank_, .path = {}, .line = 0, .column = 0});
    }
    std::copy(message.begin(), message.end(), receive.data.begin());
    counters_.received += Bytes{message.size()};
    done_.push_back(receive.id);
  }

  std::shared_ptr<Mailboxes> mail_;
  int rank_;
  int world_size_;
  std::uint32_t next_id_ = 0;
  std::deque<Receive> waiting_;
  std::vector<RequestId> done_;
  TransportCounters counters_;
};

} // namespace

std::vector<std::unique_ptr<Transport>> make_thread_transports(int world_size) {
  const auto mail = std::make_shared<Mailboxes>(world_size);
  std::vector<std::unique_ptr<Transport>> transports;
  for (int rank = 0; rank < world_size; ++rank) {
    transports.push_back(
        std::make_unique<ThreadTransport>(mail, rank, world_size));
  }
  return transports;
}

} // namespace egpurun::runtime
