#include "runtime/collectives/number_all_gather.h"

#include <algorithm>

namespace egpurun::runtime {

NumberAllGather::NumberAllGather(int tag, std::size_t count)
    : tag_(tag), count_(count), mine_(count) {}

void NumberAllGather::set(std::span<const double> mine) {
  std::copy(mine.begin(), mine.end(), mine_.begin());
}

std::span<const double> NumberAllGather::of_rank(int rank) const {
  return std::span(all_).subspan(
      static_cast<std::size_t>(rank) * count_, count_);
}

void NumberAllGather::start(Transport& transport) {
  const int world_size = transport.world_size();
  all_.resize(static_cast<std::size_t>(world_size) * count_);
  for (int peer = 0; peer < world_size; ++peer) {
    const std::span row = std::span(all_).subspan(
        static_cast<std::size_t>(peer) * count_, count_);
    if (peer == transport.rank()) {
      std::copy(mine_.begin(), mine_.end(), row.begin());
      continue;
    }
    requests_.push_back(
        transport.start_receive(peer, tag_, std::as_writable_bytes(row)));
    requests_.push_back(
        transport.start_send(peer, tag_, std::as_bytes(std::span(mine_))));
  }
}

bool NumberAllGather::advance(Transport& transport) {
  std::erase_if(
      requests_, [&](RequestId id) { return transport.take_done(id); });
  return requests_.empty();
}

} // namespace egpurun::runtime
