#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>
#include <torch/utils.h>

#include "runtime/data/batch.h"
#include "runtime/data/dataset_table.h"
#include "runtime/data/sampler.h"
#include "runtime/models/model_table.h"
#include "runtime/training/optimizer_table.h"
#include "topology/error.h"

namespace egpurun::runtime {
namespace {

std::shared_ptr<Model> seeded_model(
    std::string_view name,
    std::int64_t image_size = 28) {
  torch::manual_seed(5);
  jobs::ModelSection section;
  section.name = name;
  section.dropout = 0.3;
  return make_model(section, image_size, 10);
}

std::int64_t parameter_count(const Model& model) {
  std::int64_t count = 0;
  for (const at::Tensor& parameter : model.parameters()) {
    count += parameter.numel();
  }
  return count;
}

class Models : public ::testing::TestWithParam<std::string_view> {};

TEST_P(Models, GivesLogitsAndAGradientForEveryParameter) {
  for (const std::int64_t size : {28, 32}) {
    const auto model = seeded_model(GetParam(), size);
    const at::Tensor logits = model->forward(at::randn({3, 1, size, size}));
    EXPECT_EQ(logits.sizes(), (std::vector<std::int64_t>{3, 10}));
    at::cross_entropy_loss(logits, at::randint(10, {3}, at::kLong)).backward();
    for (const auto& parameter : model->named_parameters()) {
      ASSERT_TRUE(parameter.value().grad().defined()) << parameter.key();
      EXPECT_TRUE(parameter.value().grad().ne(0).any().item<bool>())
          << parameter.key();
    }
  }
}

TEST_P(Models, SameSeedGivesSameWeights) {
  const auto first = seeded_model(GetParam());
  const auto second = seeded_model(GetParam());
  const auto other = first->named_parameters();
  for (const auto& parameter : second->named_parameters()) {
    EXPECT_TRUE(at::equal(parameter.value(), other[parameter.key()]))
        << parameter.key();
  }
}

TEST_P(Models, EvaluationIsRepeatableAndTakesNoSamples) {
  const auto model = seeded_model(GetParam());
  model->eval();
  const at::Tensor images = at::randn({2, 1, 28, 28});
  EXPECT_TRUE(at::equal(model->forward(images), model->forward(images)));
  const at::Tensor none = model->forward(at::zeros({0, 1, 28, 28}));
  EXPECT_EQ(none.sizes(), (std::vector<std::int64_t>{0, 10}));
}

std::vector<std::string_view> all_names() {
  std::vector<std::string_view> names;
  for (const ModelRow& row : model_table()) {
    names.push_back(row.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    Models,
    ::testing::ValuesIn(all_names()),
    [](const auto& test) { return std::string(test.param); });

TEST(Mlp, OfTheBenchmarksHasSixPointThreeMillionParameters) {
  jobs::ModelSection section;
  section.name = "mlp";
  section.hidden_layers = 6;
  section.hidden_units = 1024;
  const auto model = make_model(section, 32, 10);
  EXPECT_EQ(parameter_count(*model), 6 * (1024 * 1024 + 1024) + 10250);
}

TEST(Mlp, WithoutHiddenLayersIsLinear) {
  jobs::ModelSection section;
  section.name = "mlp";
  section.hidden_layers = 0;
  EXPECT_EQ(parameter_count(*make_model(section, 28, 10)), 7850);
}

// ResNet-18 for CIFAR-10 has 11,173,962 with three input channels.
TEST(Resnet18, HasTheKnownNumberOfParameters) {
  EXPECT_EQ(parameter_count(*seeded_model("resnet18")), 11173962 - 2 * 9 * 64);
}

TEST(Cnn, HalvesOddSizesToo) {
  const auto model = seeded_model("cnn", 31);
  EXPECT_EQ(model->forward(at::randn({1, 1, 31, 31})).size(1), 10);
}

TEST(Cnn, LearnsTheSyntheticImages) {
  jobs::DataSection data;
  data.name = "synthetic";
  data.train_samples = 2000;
  data.test_samples = 500;
  const DatasetPair pair = load_dataset(data);
  const auto model = seeded_model("cnn");
  jobs::TrainSection train;
  const auto optimizer = make_optimizer(model->parameters(), train);
  ShardedSampler sampler(pair.train.count, 50, 1, 0, 1, true);
  for (std::int64_t step = 0; step < sampler.steps_per_epoch(); ++step) {
    const Batch batch =
        make_batch(pair.train, sampler.indices(0, step), data.image_size);
    optimizer->zero_grad();
    at::cross_entropy_loss(model->forward(batch.images), batch.labels)
        .backward();
    optimizer->step();
  }
  model->eval();
  ShardedSampler tests(500, 500, 1, 0, 1, false);
  const Batch batch =
      make_batch(pair.test, tests.indices(0, 0), data.image_size);
  const auto right = model->forward(batch.images).argmax(1).eq(batch.labels);
  EXPECT_GT(right.sum().item<std::int64_t>(), 400); // guessing: 50
}

void expect_error(
    const jobs::ModelSection& section,
    std::int64_t image_size,
    std::int64_t classes) {
  try {
    make_model(section, image_size, classes);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    EXPECT_FALSE(error.advice().empty());
  }
}

TEST(ModelTable, RefusesWhatMakesNoNetwork) {
  jobs::ModelSection section;
  expect_error(section, 3, 10);
  expect_error(section, 1'000'000, 10);
  expect_error(section, 28, 0);
  section.dropout = 1;
  expect_error(section, 28, 10);
  section.dropout = std::numeric_limits<double>::quiet_NaN();
  expect_error(section, 28, 10);
  section.dropout = 0;
  section.name = "resnet-18";
  expect_error(section, 28, 10);
  section.name = "mlp";
  section.hidden_units = 0;
  expect_error(section, 28, 10);
}

} // namespace
} // namespace egpurun::runtime
