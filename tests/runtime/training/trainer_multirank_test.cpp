// Whole training runs of several ranks inside one process.

#include "runtime/training/trainer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "runtime/codecs/codec_table.h"
#include "tests/runtime/collectives/thread_ranks.h"

namespace egpurun::runtime {
namespace {

jobs::JobSpec small_job(const std::string& model) {
  jobs::JobSpec spec;
  spec.model.name = model;
  spec.model.hidden_units = 64;
  spec.data.name = "synthetic";
  spec.data.train_samples = 330; // the last of 6 batches has 10 samples
  spec.data.test_samples = 100;
  spec.train.batch_size = 64;
  spec.train.epochs = 9;
  spec.train.max_steps = 50;
  spec.train.learning_rate = 0.005;
  spec.train.evaluate_every_epochs = 0;
  spec.train.threads = 1;
  spec.train.device = "cpu";
  spec.gradients.first_bucket_kib = 4;
  spec.gradients.bucket_kib = 64;
  return spec;
}

class LossCurve : public TrainObserver {
 public:
  void on_start(const jobs::RunRecord&, std::int64_t) override {}
  void on_step(const jobs::StepRecord& step) override {
    losses.push_back(step.loss);
  }
  void on_evaluation(const jobs::EvaluationRecord&) override {}
  void on_note(const std::string&) override {}

  std::vector<double> losses;
};

struct Outcome {
  std::vector<double> losses; // of rank 0
  std::vector<std::string> parameters; // [rank], all parameters' bytes
};

std::string parameter_bytes(const Model& model) {
  std::string bytes;
  for (const at::Tensor& parameter : model.parameters()) {
    bytes.append(
        static_cast<const char*>(parameter.data_ptr()), parameter.nbytes());
  }
  return bytes;
}

Outcome train(const jobs::JobSpec& spec, int world_size) {
  Outcome outcome;
  outcome.parameters.resize(static_cast<std::size_t>(world_size));
  run_thread_ranks(world_size, [&](Communicator& communicator) {
    const RankIdentity identity{
        .rank = communicator.rank(),
        .world_size = world_size,
        .local_rank = communicator.rank(),
        .local_world_size = world_size,
        .host = "here",
        .under_mpirun = false};
    LossCurve curve;
    Trainer trainer(spec, identity, communicator, &curve);
    trainer.run();
    outcome.parameters[static_cast<std::size_t>(identity.rank)] =
        parameter_bytes(trainer.model());
    if (identity.rank == 0) {
      outcome.losses = curve.losses;
    }
  });
  return outcome;
}

class TrainTogether : public testing::TestWithParam<std::string> {};

TEST_P(TrainTogether, AnyWorldSizeFollowsTheLossCurveOfOneRank) {
  const jobs::JobSpec spec = small_job(GetParam());
  const Outcome one = train(spec, 1);
  ASSERT_EQ(one.losses.size(), 50u);
  EXPECT_LT(one.losses.back(), one.losses.front());
  for (const int world_size : {2, 3, 4}) {
    const Outcome many = train(spec, world_size);
    ASSERT_EQ(many.losses.size(), one.losses.size());
    for (std::size_t step = 0; step < one.losses.size(); ++step) {
      // float32 sums in another order, carried through 50 updates
      ASSERT_NEAR(many.losses[step], one.losses[step], 2e-4)
          << world_size << " ranks, step " << step;
    }
  }
}

TEST_P(TrainTogether, EveryRankHoldsTheSameBitsAfterFiftySteps) {
  for (const CodecRow& row : codec_table()) {
    jobs::JobSpec spec = small_job(GetParam());
    spec.gradients.codec = row.name;
    const Outcome outcome = train(spec, 4);
    for (const std::string& bytes : outcome.parameters) {
      ASSERT_FALSE(bytes.empty());
      EXPECT_TRUE(bytes == outcome.parameters[0]) << row.name;
    }
  }
}

TEST_P(TrainTogether, BucketsDoNotChangeTheBits) {
  for (const CodecRow& row : codec_table()) {
    jobs::JobSpec spec = small_job(GetParam());
    spec.gradients.codec = row.name;
    const Outcome small = train(spec, 3);
    spec.gradients.first_bucket_kib = 1024;
    spec.gradients.bucket_kib = 1024;
    const Outcome large = train(spec, 3);
    EXPECT_TRUE(small.parameters[0] == large.parameters[0]) << row.name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models,
    TrainTogether,
    testing::Values("mlp", "cnn"),
    [](const auto& model) { return model.param; });

} // namespace
} // namespace egpurun::runtime
