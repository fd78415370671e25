#include "runtime/collectives/sharded_all_reduce.h"

#include <algorithm>
#include <limits>

#include "runtime/collectives/control.h"

namespace egpurun::runtime {

namespace {

// Shards and chunks begin at multiples of this, which keeps SIMD loads aligned
// and every codec's groups whole.
constexpr std::size_t kAlignment = 512; // elements

std::size_t round_up(std::size_t value) {
  return (value + kAlignment - 1) / kAlignment * kAlignment;
}

std::size_t chunk_elements(const Codec& codec) {
  const std::size_t groups = kMessageBytes / codec.encoded_bytes(kAlignment);
  return std::max<std::size_t>(groups, 1) * kAlignment;
}

auto index_of(int rank) {
  return static_cast<std::size_t>(rank);
}

} // namespace

ShardedAllReduce::ShardedAllReduce(
    const Codec& codec,
    int tag,
    std::span<const float> input,
    std::span<float> sum)
    : codec_(codec), tag_(tag), input_(input), sum_(sum) {}

void ShardedAllReduce::lay_out(const Transport& transport) {
  rank_ = transport.rank();
  world_size_ = transport.world_size();
  const std::size_t ranks = index_of(world_size_);
  const std::size_t shard = round_up((input_.size() + ranks - 1) / ranks);
  chunks_.assign(ranks, {});
  for (int owner = 0; owner < world_size_; ++owner) {
    const std::size_t begin = std::min(index_of(owner) * shard, input_.size());
    add_shard_chunks(begin, std::min(begin + shard, input_.size()), owner);
  }
  std::size_t wire_bytes = 0;
  for (auto& shard_chunks : chunks_) {
    for (Chunk& chunk : shard_chunks) {
      chunk.wire_begin = wire_bytes;
      chunk.wire_bytes = codec_.encoded_bytes(chunk.count);
      wire_bytes += chunk.wire_bytes;
    }
  }
  if (!codec_.wire_is_memory()) {
    sent_.resize(wire_bytes);
    sums_.resize(wire_bytes);
  }
  std::size_t own_bytes = 0;
  for (const Chunk& chunk : chunks_[index_of(rank_)]) {
    own_bytes += chunk.wire_bytes;
  }
  contributions_.assign(ranks, std::vector<std::byte>(own_bytes));
  contributions_[index_of(rank_)].clear();
}

void ShardedAllReduce::add_shard_chunks(
    std::size_t begin,
    std::size_t end,
    int owner) {
  const std::size_t step = chunk_elements(codec_);
  for (std::size_t at = begin; at < end; at += step) {
    chunks_[index_of(owner)].push_back(
        {.begin = at,
         .count = std::min(step, end - at),
         .wire_begin = 0,
         .wire_bytes = 0});
  }
}

void ShardedAllReduce::start(Transport& transport) {
  if (world_size_ == 0) {
    lay_out(transport);
  }
  reduced_chunks_ = 0;
  contribution_streams_.assign(index_of(world_size_), {});
  sum_streams_.assign(index_of(world_size_), {});
  post_receives(transport);
  send_contributions(transport);
}

void ShardedAllReduce::post_receives(Transport& transport) {
  const auto& own = chunks_[index_of(rank_)];
  const std::size_t own_begin = own.empty() ? 0 : own.front().wire_begin;
  for (int peer = 0; peer < world_size_; ++peer) {
    if (peer == rank_) {
      continue;
    }
    const std::span<std::byte> buffer = contributions_[index_of(peer)];
    for (const Chunk& chunk : own) {
      contribution_streams_[index_of(peer)].requests.push_back(
          transport.start_receive(
              peer,
              tag_,
              buffer.subspan(chunk.wire_begin - own_begin, chunk.wire_bytes)));
    }
    const std::span<std::byte> sums = codec_.wire_is_memory()
        ? std::as_writable_bytes(sum_)
        : std::span<std::byte>(sums_);
    for (const Chunk& chunk : chunks_[index_of(peer)]) {
      sum_streams_[index_of(peer)].requests.push_back(transport.start_receive(
          peer, tag_ + 1, sums.subspan(chunk.wire_begin, chunk.wire_bytes)));
    }
  }
}

void ShardedAllReduce::send_contributions(Transport& transport) {
  const bool plain = codec_.wire_is_memory();
  const std::span<const std::byte> wire =
      plain ? std::as_bytes(input_) : std::span<const std::byte>(sent_);
  const auto encode = [&](const Chunk& chunk) {
    if (!plain) {
      codec_.encode(
          input_.subspan(chunk.begin, chunk.count),
          std::span(sent_).subspan(chunk.wire_begin, chunk.wire_bytes));
    }
  };
  std::size_t longest = 0;
  for (const auto& shard : chunks_) {
    longest = std::max(longest, shard.size());
  }
  // Round robin over the owners, each rank beginning with its successor, so
  // that no owner is sent to by all at once.
  for (std::size_t index = 0; index < longest; ++index) {
    for (int offset = 1; offset < world_size_; ++offset) {
      const int owner = (rank_ + offset) % world_size_;
      const auto& shard = chunks_[index_of(owner)];
      if (index < shard.size()) {
        encode(shard[index]);
        sends_.push_back(transport.start_send(
            owner,
            tag_,
            wire.subspan(shard[index].wire_begin, shard[index].wire_bytes)));
      }
    }
  }
  for (const Chunk& chunk : chunks_[index_of(rank_)]) {
    encode(chunk);
  }
}

std::span<const std::byte> ShardedAllReduce::contribution(
    int rank,
    const Chunk& chunk) {
  if (rank == rank_) {
    const std::span<const std::byte> wire = codec_.wire_is_memory()
        ? std::as_bytes(input_)
        : std::span<const std::byte>(sent_);
    return wire.subspan(chunk.wire_begin, chunk.wire_bytes);
  }
  const std::size_t own_begin = chunks_[index_of(rank_)].front().wire_begin;
  return std::span(contributions_[index_of(rank)])
      .subspan(chunk.wire_begin - own_begin, chunk.wire_bytes);
}

void ShardedAllReduce::reduce_chunk(Transport& transport, std::size_t index) {
  const Chunk& chunk = chunks_[index_of(rank_)][index];
  const std::span<float> sum = sum_.subspan(chunk.begin, chunk.count);
  codec_.decode(contribution(0, chunk), sum);
  for (int rank = 1; rank < world_size_; ++rank) {
    codec_.decode_add(contribution(rank, chunk), sum);
  }
  std::span<const std::byte> wire = std::as_bytes(sum);
  if (!codec_.wire_is_memory()) {
    const std::span<std::byte> encoded =
        std::span(sums_).subspan(chunk.wire_begin, chunk.wire_bytes);
    codec_.encode(sum, encoded);
    codec_.decode(encoded, sum);
    wire = encoded;
  }
  for (int offset = 1; offset < world_size_; ++offset) {
    sends_.push_back(
        transport.start_send((rank_ + offset) % world_size_, tag_ + 1, wire));
  }
}

bool ShardedAllReduce::take_arrivals(Transport& transport, Stream& stream) {
  while (stream.arrived < stream.requests.size() &&
         transport.take_done(stream.requests[stream.arrived])) {
    ++stream.arrived;
  }
  return stream.arrived == stream.requests.size();
}

bool ShardedAllReduce::advance(Transport& transport) {
  const std::size_t own_chunks = chunks_[index_of(rank_)].size();
  std::size_t complete = own_chunks;
  bool all_arrived = true;
  for (int peer = 0; peer < world_size_; ++peer) {
    if (peer == rank_) {
      continue;
    }
    Stream& contributed = contribution_streams_[index_of(peer)];
    all_arrived &= take_arrivals(transport, contributed);
    complete = std::min(complete, contributed.arrived);

    Stream& sums = sum_streams_[index_of(peer)];
    const std::size_t before = sums.arrived;
    all_arrived &= take_arrivals(transport, sums);
    if (!codec_.wire_is_memory()) {
      for (std::size_t i = before; i < sums.arrived; ++i) {
        const Chunk& chunk = chunks_[index_of(peer)][i];
        codec_.decode(
            std::span(sums_).subspan(chunk.wire_begin, chunk.wire_bytes),
            sum_.subspan(chunk.begin, chunk.count));
      }
    }
  }
  for (; reduced_chunks_ < complete; ++reduced_chunks_) {
    reduce_chunk(transport, reduced_chunks_);
  }
  std::erase_if(sends_, [&](RequestId id) { return transport.take_done(id); });
  return all_arrived && reduced_chunks_ == own_chunks && sends_.empty();
}

} // namespace egpurun::runtime
