#include "runtime/collectives/control.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <thread>

namespace egpurun::runtime {

namespace {

void wait_all(Transport& transport, std::vector<RequestId> requests) {
  Backoff backoff;
  while (!requests.empty()) {
    const bool moved = transport.progress() > 0;
    std::erase_if(
        requests, [&](RequestId id) { return transport.take_done(id); });
    if (moved) {
      backoff.reset();
    } else if (!requests.empty()) {
      backoff.pause();
    }
  }
}

void send_in_messages(
    Transport& transport,
    int peer,
    std::span<const std::byte> data,
    std::vector<RequestId>& requests) {
  for (std::size_t at = 0; at < data.size(); at += kMessageBytes) {
    const std::size_t bytes = std::min(kMessageBytes, data.size() - at);
    requests.push_back(
        transport.start_send(peer, kControlTag, data.subspan(at, bytes)));
  }
}

void receive_in_messages(
    Transport& transport,
    int peer,
    std::span<std::byte> data,
    std::vector<RequestId>& requests) {
  for (std::size_t at = 0; at < data.size(); at += kMessageBytes) {
    const std::size_t bytes = std::min(kMessageBytes, data.size() - at);
    requests.push_back(
        transport.start_receive(peer, kControlTag, data.subspan(at, bytes)));
  }
}

using Length = std::array<std::byte, sizeof(std::uint64_t)>;

Length to_bytes(std::uint64_t value) {
  Length bytes;
  std::memcpy(bytes.data(), &value, bytes.size());
  return bytes;
}

void send_text(Transport& transport, int peer, const std::string& text) {
  const Length length = to_bytes(text.size());
  std::vector<RequestId> requests;
  send_in_messages(transport, peer, length, requests);
  send_in_messages(transport, peer, std::as_bytes(std::span(text)), requests);
  wait_all(transport, std::move(requests));
}

std::string receive_text(Transport& transport, int peer) {
  Length length;
  std::vector<RequestId> requests;
  receive_in_messages(transport, peer, length, requests);
  wait_all(transport, std::move(requests));
  std::uint64_t size = 0;
  std::memcpy(&size, length.data(), length.size());
  std::string text(size, '\0');
  requests.clear();
  receive_in_messages(
      transport, peer, std::as_writable_bytes(std::span(text)), requests);
  wait_all(transport, std::move(requests));
  return text;
}

} // namespace

void Backoff::pause() {
  ++rounds_;
  if (rounds_ < 8) {
    sched_yield();
  } else {
    std::this_thread::sleep_for(
        std::chrono::microseconds(rounds_ < 64 ? 20 : 100));
  }
}

void broadcast_bytes(
    Transport& transport,
    std::span<std::byte> data,
    int root) {
  std::vector<RequestId> requests;
  if (transport.rank() == root) {
    for (int peer = 0; peer < transport.world_size(); ++peer) {
      if (peer != root) {
        send_in_messages(transport, peer, data, requests);
      }
    }
  } else {
    receive_in_messages(transport, root, data, requests);
  }
  wait_all(transport, std::move(requests));
}

std::vector<std::string> gather_text(
    Transport& transport,
    const std::string& mine,
    int root) {
  if (transport.rank() != root) {
    send_text(transport, root, mine);
    return {};
  }
  std::vector<std::string> all;
  for (int peer = 0; peer < transport.world_size(); ++peer) {
    all.push_back(peer == root ? mine : receive_text(transport, peer));
  }
  return all;
}

std::vector<std::string> all_gather_text(
    Transport& transport,
    const std::string& mine) {
  std::vector<std::string> all = gather_text(transport, mine, 0);
  if (transport.rank() == 0) {
    for (int peer = 1; peer < transport.world_size(); ++peer) {
      for (const std::string& text : all) {
        send_text(transport, peer, text);
      }
    }
    return all;
  }
  for (int from = 0; from < transport.world_size(); ++from) {
    all.push_back(receive_text(transport, 0));
  }
  return all;
}

} // namespace egpurun::runtime
