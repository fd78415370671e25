#include "runtime/training/device_choice.h"

#include <fmt/format.h>
#include <torch/cuda.h>

#include <algorithm>
#include <thread>

#include "topology/error.h"

namespace egpurun::runtime {

std::string format_device(c10::Device device) {
  return device.str();
}

c10::Device choose_device(
    const jobs::TrainSection& train,
    const RankIdentity& identity) {
  if (train.device == "cpu") {
    return c10::Device(c10::kCPU);
  }
  const auto gpus = static_cast<int>(torch::cuda::device_count());
  if (gpus == 0) {
    if (train.device == "cuda") {
      throw Error(
          ErrorKind::kEnvironment,
          "train on a GPU (train.device = \"cuda\")",
          "libtorch sees no CUDA GPU in this process",
          "check the driver with nvidia-smi and the dock with egpu-topo show, "
          "or write train.device = \"cpu\"");
    }
    return c10::Device(c10::kCPU);
  }
  const int index = identity.local_rank % gpus;
  return c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(index));
}

int choose_threads(
    const jobs::TrainSection& train,
    const RankIdentity& identity) {
  if (train.threads > 0) {
    return static_cast<int>(train.threads);
  }
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  return std::max(1, cores / std::max(1, identity.local_world_size));
}

} // namespace egpurun::runtime
