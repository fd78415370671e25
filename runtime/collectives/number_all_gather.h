#pragma once

#include <span>
#include <vector>

#include "runtime/collectives/operation.h"

namespace egpurun::runtime {

// Every rank gives a few numbers, every rank gets all of them. Small enough to
// hide behind the backward pass.
class NumberAllGather : public Operation {
 public:
  // `count` numbers of every rank; `tag` as in Transport.
  NumberAllGather(int tag, std::size_t count);

  // Sets this rank's numbers before the operation is started.
  void set(std::span<const double> mine);
  // After it finished: rank r's numbers.
  std::span<const double> of_rank(int rank) const;

  void start(Transport& transport) override;
  bool advance(Transport& transport) override;

 private:
  int tag_;
  std::size_t count_;
  std::vector<double> mine_;
  std::vector<double> all_; // [world_size, count]
  std::vector<RequestId> requests_;
};

} // namespace egpurun::runtime
