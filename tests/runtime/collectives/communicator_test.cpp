#include "runtime/collectives/communicator.h"

#include <gtest/gtest.h>

#include <string>

#include "runtime/collectives/number_all_gather.h"
#include "tests/runtime/collectives/thread_ranks.h"
#include "topology/error.h"

namespace egpurun::runtime {
namespace {

class CommunicatorTest : public testing::TestWithParam<int> {};

TEST_P(CommunicatorTest, BroadcastReachesEveryRank) {
  for (const std::size_t size : {0u, 1u, 61440u, 61441u, 200000u}) {
    run_thread_ranks(GetParam(), [&](Communicator& communicator) {
      const int root = communicator.world_size() - 1;
      std::string text(size, communicator.rank() == root ? 'x' : '.');
      communicator.broadcast(std::as_writable_bytes(std::span(text)), root);
      EXPECT_EQ(text, std::string(size, 'x'));
    });
  }
}

TEST_P(CommunicatorTest, AllGatherKeepsLengthsAndOrder) {
  run_thread_ranks(GetParam(), [](Communicator& communicator) {
    const auto text_of = [](int rank) {
      return std::string(static_cast<std::size_t>(rank) * 40000, 'a') + "!";
    };
    const auto all = communicator.all_gather(text_of(communicator.rank()));
    ASSERT_EQ(all.size(), static_cast<std::size_t>(communicator.world_size()));
    for (int rank = 0; rank < communicator.world_size(); ++rank) {
      EXPECT_EQ(all[static_cast<std::size_t>(rank)], text_of(rank));
    }
  });
}

TEST_P(CommunicatorTest, GatherGivesTheRootAll) {
  run_thread_ranks(GetParam(), [](Communicator& communicator) {
    const auto all =
        communicator.gather(std::to_string(communicator.rank()), 0);
    if (communicator.rank() != 0) {
      EXPECT_TRUE(all.empty());
      return;
    }
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      EXPECT_EQ(all[rank], std::to_string(rank));
    }
  });
}

TEST_P(CommunicatorTest, NumbersOfAllRanksAgain) {
  run_thread_ranks(GetParam(), [](Communicator& communicator) {
    NumberAllGather gather(3, 2);
    for (int round = 0; round < 3; ++round) {
      const double mine[] = {communicator.rank() * 1.0, round * 0.5};
      gather.set(mine);
      communicator.start(gather);
      communicator.wait(gather);
      for (int rank = 0; rank < communicator.world_size(); ++rank) {
        EXPECT_EQ(gather.of_rank(rank)[0], rank);
        EXPECT_EQ(gather.of_rank(rank)[1], round * 0.5);
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, CommunicatorTest, testing::Values(1, 2, 3, 5));

class FailingOperation : public Operation {
 public:
  void start(Transport&) override {
    throw Error(ErrorKind::kRun, "send", "the link is cut", "plug it in");
  }
  bool advance(Transport&) override {
    return true;
  }
};

TEST(CommunicatorFailure, ReachesThoseWhoWaitAndThoseWhoCome) {
  run_thread_ranks(1, [](Communicator& communicator) {
    FailingOperation failing;
    communicator.start(failing);
    EXPECT_THROW(communicator.wait(failing), Error);
    EXPECT_THROW(communicator.start(failing), Error);
    EXPECT_THROW(communicator.barrier(), Error);
  });
}

TEST(CommunicatorFailure, TransportThatCannotStartIsThrownByTheConstructor) {
  const auto make = []() -> std::unique_ptr<Transport> {
    throw Error(ErrorKind::kEnvironment, "start", "no network", "make one");
  };
  EXPECT_THROW(Communicator{make}, Error);
}

TEST(ThreadTransport, WrongLengthIsAnErrorThatNamesTheSender) {
  auto transports = make_thread_transports(2);
  std::byte data[8] = {};
  transports[1]->start_send(0, 5, std::span(data).first(7));
  transports[0]->start_receive(1, 5, data);
  try {
    transports[0]->progress();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(error.asked().find("rank 1"), std::string::npos);
    EXPECT_NE(error.found().find("7 bytes"), std::string::npos);
  }
}

TEST(ThreadTransport, RankThatEndedIsAnErrorNotAHang) {
  EXPECT_THROW(
      run_thread_ranks(
          3,
          [](Communicator& communicator) {
            if (communicator.rank() == 1) {
              throw Error(ErrorKind::kRun, "train", "a failure", "mend it");
            }
            communicator.barrier();
          }),
      Error);
}

} // namespace
} // namespace egpurun::runtime
