#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/codecs/codec.h"
#include "runtime/collectives/operation.h"

namespace egpurun::runtime {

// Sum over all ranks of one vector of floats, the same bits on every rank.
//
// The vector is cut into world_size shards; rank s owns shard s. Each rank
// encodes its values and sends every shard to its owner; the owner decodes
// them, adds them in the order of ranks (its own went through the codec as
// well, so that the sum does not depend on who owns it), encodes the sum once
// and sends it to all; everybody, the owner too, decodes that same encoding.
// Shards travel in chunks of one message each, so that adding, encoding and
// both directions of the link work at the same time. A rank sends and receives
// 2 (N-1)/N of the encoded vector.
class ShardedAllReduce : public Operation {
 public:
  // `input` (this rank's values) and `sum` (the result) have the same size,
  // do not overlap and belong to the caller. Uses tags `tag` and `tag` + 1.
  ShardedAllReduce(
      const Codec& codec,
      int tag,
      std::span<const float> input,
      std::span<float> sum);

  void start(Transport& transport) override;
  bool advance(Transport& transport) override;

 private:
  // A piece of a shard that is one message; offsets count elements.
  struct Chunk {
    std::size_t begin = 0;
    std::size_t count = 0;
    std::size_t wire_begin = 0; // bytes, offset in a buffer of the whole vector
    std::size_t wire_bytes = 0;
  };
  // Transfers from one rank in the order in which they arrive.
  struct Stream {
    std::vector<RequestId> requests;
    std::size_t arrived = 0;
  };

  void lay_out(const Transport& transport);
  void add_shard_chunks(std::size_t begin, std::size_t end, int owner);
  void post_receives(Transport& transport);
  void send_contributions(Transport& transport);
  void reduce_chunk(Transport& transport, std::size_t index);
  std::span<const std::byte> contribution(int rank, const Chunk& chunk);
  bool take_arrivals(Transport& transport, Stream& stream);

  const Codec& codec_;
  int tag_;
  std::span<const float> input_;
  std::span<float> sum_;

  int rank_ = 0;
  int world_size_ = 0; // 0 = not laid out yet
  std::vector<std::vector<Chunk>> chunks_; // [owner]
  // The whole vector on the wire: own contributions, then finished sums.
  std::vector<std::byte> sent_;
  std::vector<std::byte> sums_;
  // [rank]: its contribution to our shard.
  std::vector<std::vector<std::byte>> contributions_;
  std::vector<Stream> contribution_streams_; // [rank]
  std::vector<Stream> sum_streams_; // [owner]
  std::vector<RequestId> sends_;
  std::size_t reduced_chunks_ = 0;
};

} // namespace egpurun::runtime
