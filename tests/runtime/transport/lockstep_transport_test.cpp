#include "runtime/transport/lockstep_transport.h"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <thread>
#include <vector>

#include "runtime/codecs/codec_table.h"
#include "runtime/collectives/control.h"
#include "runtime/collectives/sharded_all_reduce.h"
#include "runtime/transport/thread_transport.h"
#include "tests/runtime/collectives/thread_ranks.h"

namespace egpurun::runtime {
namespace {

constexpr int kPacedTag = 3;
constexpr int kFreeTag = 9;
constexpr Seconds kForEver{3600};

LockstepLimits limits(Bytes window, Seconds patience) {
  return {
      .ahead = Seconds(0.010),
      .smallest = window,
      .largest = window,
      .patience = patience};
}

class Lockstep : public testing::Test {
 protected:
  void make(Bytes window, Seconds patience) {
    auto transports = make_thread_transports(2);
    ours_ = make_lockstep_transport(
        std::move(transports[0]), kPacedTag, limits(window, patience));
    peer_ = std::move(transports[1]);
  }

  // Starts `count` sends of 100 bytes each; byte 0 of message i is i.
  void send(int count, int tag) {
    for (int i = 0; i < count; ++i) {
      messages_.push_back({static_cast<std::byte>(i)});
      ours_->start_send(1, tag, messages_.back());
    }
  }

  // Messages that the peer has by now; checks their order.
  int arrived(int tag) {
    while (true) {
      std::array<std::byte, 100> message;
      const RequestId id = peer_->start_receive(0, tag, message);
      peer_->progress();
      if (!peer_->take_done(id)) {
        return arrived_; // this receive stays posted: ask only once
      }
      EXPECT_EQ(message[0], static_cast<std::byte>(arrived_));
      ++arrived_;
    }
  }

  std::unique_ptr<Transport> ours_;
  std::unique_ptr<Transport> peer_;
  std::deque<std::array<std::byte, 100>> messages_;
  int arrived_ = 0;
};

TEST_F(Lockstep, SilentPeerGetsTheWindowOnly) {
  make(Bytes{300}, kForEver);
  send(10, kPacedTag);
  ours_->progress();
  EXPECT_EQ(arrived(kPacedTag), 3);
}

TEST_F(Lockstep, WhatComesBackLetsAsMuchGo) {
  make(Bytes{300}, kForEver);
  send(10, kPacedTag);
  std::array<std::byte, 200> news{};
  peer_->start_send(0, kPacedTag, news);
  const RequestId id = ours_->start_receive(1, kPacedTag, news);
  ours_->progress();
  EXPECT_TRUE(ours_->take_done(id));
  ours_->progress();
  EXPECT_EQ(arrived(kPacedTag), 5);
}

TEST_F(Lockstep, FastPeerWidensTheWindowUpToTheLargest) {
  auto transports = make_thread_transports(2);
  ours_ = make_lockstep_transport(
      std::move(transports[0]),
      kPacedTag,
      {.ahead = Seconds(3600),
       .smallest = Bytes{100},
       .largest = Bytes{700},
       .patience = kForEver});
  peer_ = std::move(transports[1]);
  std::array<std::byte, 10> news{};
  for (int i = 0; i < 8; ++i) {
    peer_->start_send(0, kPacedTag, news);
    const RequestId id = ours_->start_receive(1, kPacedTag, news);
    ours_->progress();
    ASSERT_TRUE(ours_->take_done(id));
  }
  send(20, kPacedTag);
  // Seven messages of the window, one for the 80 bytes that came.
  EXPECT_EQ(arrived(kPacedTag), 8);
}

TEST_F(Lockstep, PatienceEndsSoNothingIsStuck) {
  make(Bytes{300}, Seconds(0));
  send(10, kPacedTag);
  ours_->progress();
  EXPECT_EQ(arrived(kPacedTag), 10);
}

TEST_F(Lockstep, OtherTagsAreNotHeldBack) {
  make(Bytes{300}, kForEver);
  send(10, kFreeTag);
  EXPECT_EQ(arrived(kFreeTag), 10);
}

TEST_F(Lockstep, HeldSendIsNotDoneUntilItWent) {
  make(Bytes{100}, kForEver);
  messages_.push_back({});
  messages_.push_back({});
  const RequestId first = ours_->start_send(1, kPacedTag, messages_[0]);
  const RequestId second = ours_->start_send(1, kPacedTag, messages_[1]);
  ours_->progress();
  EXPECT_TRUE(ours_->take_done(first));
  EXPECT_FALSE(ours_->take_done(second));
}

TEST(LockstepAllReduce, TinyWindowAndUnequalShardsStillFinish) {
  const auto codec = make_codec("fp16");
  auto transports = make_thread_transports(3);
  std::vector<std::thread> threads;
  for (auto& transport : transports) {
    threads.emplace_back([&] {
      Communicator communicator([&] {
        return make_lockstep_transport(
            std::move(transport),
            kMaxOperationTag,
            limits(Bytes{1}, Seconds(0.001)));
      });
      // 700 elements: the last rank owns nothing.
      for (const std::size_t count : {700u, 200000u}) {
        const std::vector<float> mine(count, 2.0f);
        std::vector<float> sum(count);
        ShardedAllReduce all_reduce(*codec, 0, mine, sum);
        communicator.start(all_reduce);
        communicator.wait(all_reduce);
        EXPECT_EQ(sum, std::vector<float>(count, 6.0f));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

} // namespace
} // namespace egpurun::runtime
