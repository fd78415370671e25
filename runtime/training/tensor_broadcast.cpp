#include "runtime/training/tensor_broadcast.h"

#include <ATen/Functions.h>

#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

namespace egpurun::runtime {

namespace {

using nlohmann::json;

std::span<std::byte> bytes_of(const at::Tensor& tensor) {
  return {static_cast<std::byte*>(tensor.data_ptr()), tensor.nbytes()};
}

json describe(const NamedTensors& tensors) {
  json rows = json::array();
  for (const auto& [name, tensor] : tensors) {
    rows.push_back(
        {{"name", name},
         {"type", static_cast<int>(tensor.scalar_type())},
         {"shape", tensor.sizes().vec()}});
  }
  return rows;
}

} // namespace

std::string broadcast_text(
    Communicator& communicator,
    const std::string& text) {
  std::uint64_t size = text.size();
  communicator.broadcast(std::as_writable_bytes(std::span(&size, 1)), 0);
  std::string result = text;
  result.resize(size);
  communicator.broadcast(std::as_writable_bytes(std::span(result)), 0);
  return result;
}

NamedTensors broadcast_tensors(
    Communicator& communicator,
    const NamedTensors& tensors) {
  const json rows =
      json::parse(broadcast_text(communicator, describe(tensors).dump()));
  NamedTensors result;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto type = static_cast<at::ScalarType>(rows[i]["type"].get<int>());
    at::Tensor tensor = communicator.rank() == 0
        ? tensors[i].second.detach().cpu().contiguous().clone()
        : at::empty(
              rows[i]["shape"].get<std::vector<std::int64_t>>(),
              at::TensorOptions().dtype(type));
    communicator.broadcast(bytes_of(tensor), 0);
    result.emplace_back(rows[i]["name"].get<std::string>(), std::move(tensor));
  }
  return result;
}

} // namespace egpurun::runtime
