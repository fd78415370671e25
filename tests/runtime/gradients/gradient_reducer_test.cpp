#include "runtime/gradients/gradient_reducer.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <mutex>

#include "runtime/codecs/codec_table.h"
#include "tests/runtime/collectives/thread_ranks.h"
#include "topology/error.h"

namespace egpurun::runtime {
namespace {

const jobs::BucketLimits kSmall{.first = Bytes{64}, .others = Bytes{4096}};

at::Tensor leaf(std::initializer_list<std::int64_t> shape, double value) {
  return at::full(at::IntArrayRef(shape.begin(), shape.size()), value)
      .requires_grad_(true);
}

// The reduced gradients of all parameters, by parameter.
std::vector<at::Tensor> finish(
    GradientReducer& reducer,
    const std::vector<at::Tensor>& parameters) {
  std::vector<at::Tensor> gradients(parameters.size());
  reducer.finish_step([&] {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i].grad().defined()) {
        EXPECT_FALSE(gradients[i].defined()) << "given twice";
        gradients[i] = parameters[i].grad().clone();
      }
    }
  });
  for (const at::Tensor& gradient : gradients) {
    EXPECT_TRUE(gradient.defined());
  }
  return gradients;
}

// loss = sum(a) * x + sum(b * b) / 2: gradients x and b.
at::Tensor loss_of(const std::vector<at::Tensor>& parameters, double x) {
  return parameters[0].sum() * x + (parameters[1] * parameters[1]).sum() / 2;
}

TEST(GradientReducer, WeightsMakeTheMeanOverAllSamples) {
  const auto codec = make_codec("none");
  run_thread_ranks(3, [&](Communicator& communicator) {
    const int rank = communicator.rank();
    const std::vector<at::Tensor> parameters{leaf({5, 7}, 1), leaf({300}, 2)};
    GradientReducer reducer(parameters, *codec, communicator, kSmall);
    const double weights[] = {0.5, 0.25, 0.25};
    for (int step = 0; step < 3; ++step) {
      reducer.begin_step(weights[rank]);
      loss_of(parameters, rank + step).backward();
      const auto gradients = finish(reducer, parameters);
      // 0.5 * step + 0.25 * (1 + step) + 0.25 * (2 + step)
      EXPECT_TRUE(at::allclose(gradients[0], at::full({5, 7}, 0.75 + step)));
      EXPECT_TRUE(at::allclose(gradients[1], at::full({300}, 2.0)));
    }
  });
}

TEST(GradientReducer, RankWithoutSamplesCountsAsZero) {
  const auto codec = make_codec("none");
  run_thread_ranks(2, [&](Communicator& communicator) {
    const std::vector<at::Tensor> parameters{leaf({4}, 1), leaf({4}, 2)};
    GradientReducer reducer(parameters, *codec, communicator, kSmall);
    const bool idle = communicator.rank() == 1;
    reducer.begin_step(idle ? 0.0 : 1.0);
    if (!idle) {
      loss_of(parameters, 3).backward();
    }
    const auto gradients = finish(reducer, parameters);
    EXPECT_TRUE(at::equal(gradients[0], at::full({4}, 3.0)));
    EXPECT_TRUE(at::equal(gradients[1], at::full({4}, 2.0)));
  });
}

TEST(GradientReducer, ParameterUnusedOnOneRankStillAgrees) {
  const auto codec = make_codec("none");
  run_thread_ranks(2, [&](Communicator& communicator) {
    const std::vector<at::Tensor> parameters{leaf({4}, 1), leaf({4}, 2)};
    GradientReducer reducer(parameters, *codec, communicator, kSmall);
    reducer.begin_step(0.5);
    if (communicator.rank() == 0) {
      (parameters[0].sum() * 8).backward();
    } else {
      loss_of(parameters, 0).backward();
    }
    const auto gradients = finish(reducer, parameters);
    EXPECT_TRUE(at::equal(gradients[0], at::full({4}, 4.0)));
    EXPECT_TRUE(at::equal(gradients[1], at::full({4}, 1.0)));
  });
}

TEST(GradientReducer, BackwardOutsideAStepIsLeftAlone) {
  const auto codec = make_codec("none");
  run_thread_ranks(2, [&](Communicator& communicator) {
    const std::vector<at::Tensor> parameters{leaf({4}, 1), leaf({4}, 2)};
    GradientReducer reducer(parameters, *codec, communicator, kSmall);
    loss_of(parameters, communicator.rank()).backward();
    EXPECT_TRUE(at::equal(
        parameters[0].grad(), at::full({4}, double(communicator.rank()))));
  });
}

TEST(GradientReducer, OutlivedByTheParameters) {
  const auto codec = make_codec("none");
  run_thread_ranks(1, [&](Communicator& communicator) {
    const std::vector<at::Tensor> parameters{leaf({4}, 1), leaf({4}, 2)};
    { GradientReducer reducer(parameters, *codec, communicator, kSmall); }
    loss_of(parameters, 5).backward();
    EXPECT_TRUE(at::equal(parameters[0].grad(), at::full({4}, 5.0)));
  });
}

TEST(GradientReducer, OtherTypesThanFloatAreRefused) {
  const auto codec = make_codec("none");
  run_thread_ranks(1, [&](Communicator& communicator) {
    const std::vector<at::Tensor> parameters{
        at::ones({4}, at::kDouble).requires_grad_(true)};
    EXPECT_THROW(
        GradientReducer(parameters, *codec, communicator, kSmall), Error);
  });
}

} // namespace
} // namespace egpurun::runtime
