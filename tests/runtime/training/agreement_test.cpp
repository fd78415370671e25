#include "runtime/training/agreement.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/runtime/collectives/thread_ranks.h"

namespace egpurun::runtime {
namespace {

RankIdentity identity_of(const Communicator& communicator) {
  RankIdentity identity;
  identity.rank = communicator.rank();
  identity.world_size = communicator.world_size();
  identity.host = "pc" + std::to_string(communicator.rank() + 1);
  return identity;
}

TEST(PrepareTogether, SilentWhenAllSucceed) {
  run_thread_ranks(3, [](Communicator& communicator) {
    EXPECT_NO_THROW(
        prepare_together(communicator, identity_of(communicator), [] {}));
  });
}

TEST(PrepareTogether, EveryRankThrowsTheFirstFailure) {
  run_thread_ranks(4, [](Communicator& communicator) {
    const int rank = communicator.rank();
    try {
      prepare_together(communicator, identity_of(communicator), [&] {
        if (rank == 1 || rank == 3) {
          throw Error(
              ErrorKind::kEnvironment,
              "open data",
              "no file on rank " + std::to_string(rank),
              "copy it",
              {.host = {},
               .rank = {},
               .path = "/data",
               .line = 2,
               .column = 3});
        }
      });
      FAIL() << "no error";
    } catch (const AgreedError& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
      EXPECT_EQ(error.asked(), "open data");
      EXPECT_EQ(error.found(), "no file on rank 1 (also failed: pc4 rank 3)");
      EXPECT_EQ(error.place().host, "pc2");
      EXPECT_EQ(error.place().rank, 1);
      EXPECT_EQ(error.place().path, "/data");
      EXPECT_EQ(error.place().line, 2);
    }
  });
}

TEST(PrepareTogether, OtherExceptionsBecomeErrors) {
  run_thread_ranks(2, [](Communicator& communicator) {
    EXPECT_THROW(
        prepare_together(
            communicator,
            identity_of(communicator),
            [&] {
              if (communicator.rank() == 0) {
                throw std::runtime_error("bad \xff byte");
              }
            }),
        AgreedError);
  });
}

TEST(RequireEqual, NamesTheRankThatDiffers) {
  run_thread_ranks(3, [](Communicator& communicator) {
    const RankIdentity identity = identity_of(communicator);
    EXPECT_NO_THROW(require_equal(communicator, identity, "x", "same", "do"));
    try {
      require_equal(
          communicator,
          identity,
          "all PCs to hold the same data",
          communicator.rank() == 2 ? "ten samples" : "nine samples",
          "copy it");
      FAIL() << "no error";
    } catch (const AgreedError& error) {
      EXPECT_EQ(
          error.found(),
          "rank 0 on pc1 has nine samples, rank 2 on pc3 has ten samples");
      EXPECT_EQ(error.place().host, "pc3");
    }
  });
}

} // namespace
} // namespace egpurun::runtime
