#include "runtime/training/optimizer_table.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>
#include <torch/utils.h>

#include "topology/error.h"

namespace egpurun::runtime {
namespace {

const std::vector<std::string> kNames{"layer.weight", "layer.bias"};

jobs::TrainSection section(std::string_view optimizer) {
  jobs::TrainSection train;
  train.optimizer = optimizer;
  train.learning_rate = 0.1;
  train.weight_decay = 0.01;
  return train;
}

std::vector<at::Tensor> make_parameters() {
  torch::manual_seed(1);
  return {
      at::randn({3, 4}).requires_grad_(true),
      at::randn({5}).requires_grad_(true)};
}

void step(
    torch::optim::Optimizer& optimizer,
    std::vector<at::Tensor>& parameters,
    std::uint64_t seed) {
  torch::manual_seed(seed);
  for (at::Tensor& parameter : parameters) {
    parameter.mutable_grad() = at::randn(parameter.sizes());
  }
  optimizer.step();
}

class Optimizers : public ::testing::TestWithParam<std::string_view> {};

TEST_P(Optimizers, RestoredStateGoesOnBitForBit) {
  auto parameters = make_parameters();
  auto optimizer = make_optimizer(parameters, section(GetParam()));
  for (std::uint64_t i = 0; i < 3; ++i) {
    step(*optimizer, parameters, i);
  }
  std::vector<at::Tensor> copies;
  for (const at::Tensor& parameter : parameters) {
    copies.push_back(parameter.detach().clone().requires_grad_(true));
  }
  auto restored = make_optimizer(copies, section(GetParam()));
  NamedTensors state = optimizer_state(*optimizer, kNames);
  state.emplace_back("model.layer.weight", at::ones({1})); // not its business
  load_optimizer_state(*restored, kNames, state);
  for (std::uint64_t i = 3; i < 6; ++i) {
    step(*optimizer, parameters, i);
    step(*restored, copies, i);
  }
  for (std::size_t i = 0; i < copies.size(); ++i) {
    EXPECT_TRUE(at::equal(parameters[i], copies[i])) << i;
  }
}

TEST_P(Optimizers, WithoutTheStateTheyWouldDiffer) {
  auto parameters = make_parameters();
  auto optimizer = make_optimizer(parameters, section(GetParam()));
  step(*optimizer, parameters, 0);
  std::vector<at::Tensor> copies{
      parameters[0].detach().clone().requires_grad_(true),
      parameters[1].detach().clone().requires_grad_(true)};
  auto fresh = make_optimizer(copies, section(GetParam()));
  step(*optimizer, parameters, 1);
  step(*fresh, copies, 1);
  EXPECT_FALSE(at::equal(parameters[0], copies[0]));
}

TEST_P(Optimizers, NoStateBeforeTheFirstStep) {
  auto optimizer = make_optimizer(make_parameters(), section(GetParam()));
  EXPECT_TRUE(optimizer_state(*optimizer, kNames).empty());
}

TEST_P(Optimizers, LoadingNothingForgets) {
  auto parameters = make_parameters();
  auto optimizer = make_optimizer(parameters, section(GetParam()));
  step(*optimizer, parameters, 0);
  EXPECT_FALSE(optimizer_state(*optimizer, kNames).empty());
  load_optimizer_state(*optimizer, kNames, {});
  EXPECT_TRUE(optimizer_state(*optimizer, kNames).empty());
}

TEST_P(Optimizers, RefusesWhatDoesNotFitAndStaysAsItWas) {
  auto parameters = make_parameters();
  auto optimizer = make_optimizer(parameters, section(GetParam()));
  step(*optimizer, parameters, 0);
  const NamedTensors state = optimizer_state(*optimizer, kNames);
  NamedTensors other_name = state;
  other_name[0].first = "optimizer.head.weight.exp_avg";
  NamedTensors other_shape = state;
  other_shape.back().second = at::ones({2, 2});
  NamedTensors no_parameter = state;
  no_parameter.emplace_back("optimizer.", at::ones({1}));
  NamedTensors too_many = state;
  too_many.emplace_back("optimizer.layer.bias.extra", at::ones({5}));
  for (const auto& wrong : {other_name, other_shape, no_parameter, too_many}) {
    EXPECT_THROW(load_optimizer_state(*optimizer, kNames, wrong), Error);
  }
  EXPECT_THROW(load_optimizer_state(*optimizer, {"one"}, state), Error);
  const NamedTensors after = optimizer_state(*optimizer, kNames);
  ASSERT_EQ(after.size(), state.size());
  for (std::size_t i = 0; i < state.size(); ++i) {
    EXPECT_EQ(after[i].first, state[i].first);
    EXPECT_TRUE(at::equal(after[i].second, state[i].second));
  }
}

TEST_P(Optimizers, RefusesTheOthersState) {
  auto parameters = make_parameters();
  auto optimizer = make_optimizer(parameters, section(GetParam()));
  step(*optimizer, parameters, 0);
  const NamedTensors state = optimizer_state(*optimizer, kNames);
  for (const OptimizerRow& row : optimizer_table()) {
    auto other = make_optimizer(make_parameters(), section(row.name));
    if (row.name == GetParam()) {
      EXPECT_NO_THROW(load_optimizer_state(*other, kNames, state));
    } else {
      EXPECT_THROW(load_optimizer_state(*other, kNames, state), Error);
    }
  }
}

TEST_P(Optimizers, ALearningRateOfZeroMovesNothing) {
  auto parameters = make_parameters();
  auto optimizer = make_optimizer(parameters, section(GetParam()));
  set_learning_rate(*optimizer, 0);
  step(*optimizer, parameters, 0);
  EXPECT_TRUE(at::equal(parameters[0], make_parameters()[0]));
  set_learning_rate(*optimizer, 0.5);
  step(*optimizer, parameters, 1);
  EXPECT_FALSE(at::equal(parameters[0], make_parameters()[0]));
}

std::vector<std::string_view> all_names() {
  std::vector<std::string_view> names;
  for (const OptimizerRow& row : optimizer_table()) {
    names.push_back(row.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    Optimizers,
    ::testing::ValuesIn(all_names()),
    [](const auto& test) { return std::string(test.param); });

TEST(OptimizerTable, UnknownNameIsAnError) {
  try {
    make_optimizer(make_parameters(), section("adam"));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    EXPECT_NE(error.found().find("sgd, adamw"), std::string::npos);
    EXPECT_NE(error.advice().find("adamw"), std::string::npos);
  }
}

} // namespace
} // namespace egpurun::runtime
