#include "runtime/codecs/none.h"

#include <bit>
#include <cstring>

namespace egpurun::runtime {

namespace {

static_assert(std::endian::native == std::endian::little);

class NoneCodec : public Codec {
 public:
  std::size_t encoded_bytes(std::size_t elements) const override {
    return elements * sizeof(float);
  }

  void encode(std::span<const float> values, std::span<std::byte> wire)
      const override {
    if (!values.empty()) {
      std::memcpy(wire.data(), values.data(), wire.size());
    }
  }

  void decode(std::span<const std::byte> wire, std::span<float> values)
      const override {
    if (!values.empty()) {
      std::memcpy(values.data(), wire.data(), wire.size());
    }
  }

  void decode_add(std::span<const std::byte> wire, std::span<float> values)
      const override {
    for (std::size_t i = 0; i < values.size(); ++i) {
      float value = 0;
      std::memcpy(&value, wire.data() + i * sizeof(float), sizeof(float));
      values[i] += value;
    }
  }

  bool wire_is_memory() const override {
    return true;
  }

  float error_bound(float /*largest*/) const override {
    return 0;
  }
};

} // namespace

std::unique_ptr<Codec> make_none_codec() {
  return std::make_unique<NoneCodec>();
}

} // namespace egpurun::runtime
