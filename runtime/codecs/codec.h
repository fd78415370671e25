#pragma once

#include <cstddef>
#include <span>

namespace egpurun::runtime {

// How gradient values look on the wire.
//
// Thread safety: all methods are const and may run on any thread at once.
// Encoding is a pure function of the values, so that every rank and every CPU
// makes the same bits. NaN and infinities stay NaN and infinities.
class Codec {
 public:
  virtual ~Codec() = default;

  // Exact size on the wire of `elements` values.
  virtual std::size_t encoded_bytes(std::size_t elements) const = 0;

  // wire.size() == encoded_bytes(values.size()) in all three.
  virtual void encode(std::span<const float> values, std::span<std::byte> wire)
      const = 0;
  virtual void decode(std::span<const std::byte> wire, std::span<float> values)
      const = 0;
  // values[i] += decoded[i]
  virtual void decode_add(
      std::span<const std::byte> wire,
      std::span<float> values) const = 0;

  // True if the wire bytes are the values' own memory, so that callers may send
  // and receive values without encode and decode.
  virtual bool wire_is_memory() const {
    return false;
  }

  // Largest |decoded - value| for a finite value of magnitude at most
  // `largest`; what the conformance tests hold the codec to.
  virtual float error_bound(float largest) const = 0;
};

} // namespace egpurun::runtime
