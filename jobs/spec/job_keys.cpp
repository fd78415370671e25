#include "jobs/spec/job_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace egpurun::jobs {

namespace {

// member<&JobSpec::train, &TrainSection::epochs> is a JobKey::member.
template <auto kSection, auto kMember>
KeyMember member(JobSpec& spec) {
  return &(spec.*kSection.*kMember);
}

KeyLimits any() {
  return {};
}

KeyLimits at_least(double minimum) {
  KeyLimits limits;
  limits.minimum = minimum;
  return limits;
}

KeyLimits above(double minimum) {
  KeyLimits limits = at_least(minimum);
  limits.minimum_excluded = true;
  return limits;
}

KeyLimits between(double minimum, double maximum) {
  KeyLimits limits = at_least(minimum);
  limits.maximum = maximum;
  return limits;
}

// 0 included, 1 not.
KeyLimits below_one() {
  KeyLimits limits = between(0, 1);
  limits.maximum_excluded = true;
  return limits;
}

KeyLimits one_of(std::vector<std::string_view> words) {
  KeyLimits limits;
  limits.words = std::move(words);
  return limits;
}

// Upper limits of counts only keep sums and products inside 64 bits.
constexpr double kManySteps = 1e12;
constexpr double kManySamples = 1e9;

// One row: section and key, member, limits, description.
// clang-format off
const std::vector<JobKey> kKeys = {
  {"job", "name", member<&JobSpec::job, &JobSection::name>, any(),
   "Shown in reports."},
  {"job", "seed", member<&JobSpec::job, &JobSection::seed>, at_least(0),
   "Start of the random numbers for weights, shuffling and dropout."},

  {"hosts", "list", member<&JobSpec::hosts, &HostsSection::list>, any(),
   "PCs with their slots, like [\"pc1\", \"pc2:2\"]; [] = this PC."},
  {"hosts", "hostfile", member<&JobSpec::hosts, &HostsSection::hostfile>, any(),
   "An mpirun hostfile, instead of list; \"\" = none."},
  {"hosts", "ranks",
   member<&JobSpec::hosts, &HostsSection::ranks>, between(0, 65536),
   "Processes to start; 0 = one per slot."},
  {"hosts", "network", member<&JobSpec::hosts, &HostsSection::network>, any(),
   "Network between the PCs, like \"10.0.0.0/24\" or \"eth0\";"
   " \"\" = mpirun's own choice."},

  {"model", "name", member<&JobSpec::model, &ModelSection::name>, any(),
   "Which network to train, like cnn, mlp or resnet18."},
  {"model", "hidden_units",
   member<&JobSpec::model, &ModelSection::hidden_units>, between(1, 65536),
   "mlp: width of each hidden layer."},
  {"model", "hidden_layers",
   member<&JobSpec::model, &ModelSection::hidden_layers>, between(0, 1000),
   "mlp: number of hidden layers."},
  {"model", "dropout",
   member<&JobSpec::model, &ModelSection::dropout>, below_one(),
   "Share of activations dropped while training."},

  {"data", "name", member<&JobSpec::data, &DataSection::name>, any(),
   "Which data set, like fashion-mnist."},
  {"data", "folder", member<&JobSpec::data, &DataSection::folder>, any(),
   "Where its files are, on every PC."},
  {"data", "image_size",
   member<&JobSpec::data, &DataSection::image_size>, between(28, 1024),
   "Width and height in pixels; above 28 pads with zeros."},
  {"data", "train_samples",
   member<&JobSpec::data, &DataSection::train_samples>,
   between(0, kManySamples),
   "Train on the first so many samples only; 0 = all."},
  {"data", "test_samples",
   member<&JobSpec::data, &DataSection::test_samples>, between(0, kManySamples),
   "Evaluate on the first so many samples only; 0 = all."},
  {"data", "shuffle", member<&JobSpec::data, &DataSection::shuffle>, any(),
   "A new order of the samples in each epoch."},

  {"train", "epochs",
   member<&JobSpec::train, &TrainSection::epochs>, between(1, 1e6),
   "Passes over the training samples."},
  {"train", "max_steps",
   member<&JobSpec::train, &TrainSection::max_steps>, between(0, kManySteps),
   "Stop after so many steps in all; 0 = no limit."},
  {"train", "batch_size",
   member<&JobSpec::train, &TrainSection::batch_size>, between(1, kManySamples),
   "Samples of one step, over all ranks together."},
  {"train", "evaluate_every_epochs",
   member<&JobSpec::train, &TrainSection::evaluate_every_epochs>,
   between(0, 1e6),
   "Test after so many epochs; 0 = only after the last."},
  {"train", "device",
   member<&JobSpec::train, &TrainSection::device>,
   one_of({"auto", "cpu", "cuda"}),
   "Where to compute; auto = a GPU if the rank has one."},
  {"train", "threads",
   member<&JobSpec::train, &TrainSection::threads>, between(0, 4096),
   "CPU threads per rank; 0 = its share of the PC's cores."},
  {"train", "optimizer",
   member<&JobSpec::train, &TrainSection::optimizer>, one_of({"sgd", "adamw"}),
   "How gradients change the weights."},
  {"train", "learning_rate",
   member<&JobSpec::train, &TrainSection::learning_rate>, above(0),
   "Highest learning rate of the run."},
  {"train", "momentum",
   member<&JobSpec::train, &TrainSection::momentum>, below_one(),
   "sgd: share of the last change that is kept."},
  {"train", "weight_decay",
   member<&JobSpec::train, &TrainSection::weight_decay>, at_least(0),
   "Pull of the weights towards zero."},
  {"train", "beta1", member<&JobSpec::train, &TrainSection::beta1>, below_one(),
   "adamw: memory of the mean gradient."},
  {"train", "beta2", member<&JobSpec::train, &TrainSection::beta2>, below_one(),
   "adamw: memory of the mean squared gradient."},
  {"train", "epsilon",
   member<&JobSpec::train, &TrainSection::epsilon>, above(0),
   "adamw: added to the divisor."},
  {"train", "schedule",
   member<&JobSpec::train, &TrainSection::schedule>,
   one_of({"constant", "cosine"}),
   "Learning rate over the run; cosine ends at zero."},
  {"train", "warmup_steps",
   member<&JobSpec::train, &TrainSection::warmup_steps>, between(0, kManySteps),
   "Steps in which the learning rate rises linearly before that."},

  {"gradients", "codec",
   member<&JobSpec::gradients, &GradientsSection::codec>, any(),
   "How gradients are packed for the network, like none or fp16."},
  {"gradients", "first_bucket_kib",
   member<&JobSpec::gradients, &GradientsSection::first_bucket_kib>,
   between(1, 1048576),
   "Gradients sent together first, in KiB."},
  {"gradients", "bucket_kib",
   member<&JobSpec::gradients, &GradientsSection::bucket_kib>,
   between(1, 1048576),
   "Gradients sent together after that, in KiB."},

  {"checkpoint", "folder",
   member<&JobSpec::checkpoint, &CheckpointSection::folder>, any(),
   "Where checkpoints are kept; \"\" = none are written."},
  {"checkpoint", "every_steps",
   member<&JobSpec::checkpoint, &CheckpointSection::every_steps>,
   between(0, kManySteps),
   "Save after so many steps; 0 = only at ends of epochs."},
  {"checkpoint", "every_epochs",
   member<&JobSpec::checkpoint, &CheckpointSection::every_epochs>,
   between(0, 1e6),
   "Save after so many epochs; 0 = only by steps. The end is always saved."},
  {"checkpoint", "keep",
   member<&JobSpec::checkpoint, &CheckpointSection::keep>, between(1, 1e6),
   "Checkpoints kept, the newest ones."},
  {"checkpoint", "resume",
   member<&JobSpec::checkpoint, &CheckpointSection::resume>,
   one_of({"auto", "never", "require"}),
   "Go on from the newest checkpoint: if there is one, never,"
   " or fail without one."},

  {"report", "folder", member<&JobSpec::report, &ReportSection::folder>, any(),
   "Where each rank writes its records for egpu-report; \"\" = none."},
  {"report", "progress",
   member<&JobSpec::report, &ReportSection::progress>,
   one_of({"auto", "always", "never"}),
   "The progress line; auto = on a terminal only."},
};
// clang-format on

} // namespace

const std::vector<JobSectionRow>& job_sections() {
  static const std::vector<JobSectionRow> kSections = {
      {"job", "The run as a whole."},
      {"hosts", "Which PCs train; read by egpurun."},
      {"model", "The network to train."},
      {"data", "What it learns from."},
      {"train", "How long and how it learns."},
      {"gradients", "What the ranks send each other."},
      {"checkpoint", "Saved states, from which a job goes on."},
      {"report", "What the run says about itself."},
  };
  return kSections;
}

const std::vector<JobKey>& job_keys() {
  return kKeys;
}

const JobKey* find_job_key(std::string_view section, std::string_view name) {
  const auto& keys = job_keys();
  const auto key = std::find_if(keys.begin(), keys.end(), [&](const auto& k) {
    return k.section == section && k.name == name;
  });
  return key == keys.end() ? nullptr : &*key;
}

std::vector<std::string_view> section_names() {
  std::vector<std::string_view> names;
  for (const JobSectionRow& section : job_sections()) {
    names.push_back(section.name);
  }
  return names;
}

std::vector<std::string_view> key_names(std::string_view section) {
  std::vector<std::string_view> names;
  for (const JobKey& key : job_keys()) {
    if (key.section == section) {
      names.push_back(key.name);
    }
  }
  return names;
}

std::string_view type_text(const JobKey& key) {
  static constexpr std::string_view kTexts[] = {
      "true or false",
      "a whole number",
      "a number",
      "a text",
      "a list of texts"};
  static_assert(std::size(kTexts) == std::variant_size_v<KeyMember>);
  JobSpec spec;
  return kTexts[key.member(spec).index()];
}

std::string limits_text(const JobKey& key) {
  const KeyLimits& limits = key.limits;
  if (!limits.words.empty()) {
    std::string text(limits.words.front());
    for (std::size_t i = 1; i < limits.words.size(); ++i) {
      text += i + 1 == limits.words.size() ? " or " : ", ";
      text += limits.words[i];
    }
    return text;
  }
  if (!std::isfinite(limits.minimum)) {
    return "";
  }
  if (!std::isfinite(limits.maximum)) {
    return fmt::format(
        "{} {:.15g}",
        limits.minimum_excluded ? "above" : "at least",
        limits.minimum);
  }
  return fmt::format(
      "{:.15g} to {}{:.15g}",
      limits.minimum,
      limits.maximum_excluded ? "below " : "",
      limits.maximum);
}

} // namespace egpurun::jobs
