#pragma once

#include <cstdint>
#include <limits>

namespace egpurun::runtime {

// SplitMix64 (Steele, Lea, Flood 2014, "Fast Splittable Pseudorandom Number
// Generators"): the same numbers on every platform, unlike <random>'s
// distributions. The whole state is one 64-bit word.
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  // Uniform in [0, bound), bound > 0; rejection, so without bias.
  std::uint64_t below(std::uint64_t bound) {
    constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t limit = kMax - kMax % bound;
    std::uint64_t value = next();
    while (value >= limit) {
      value = next();
    }
    return value % bound;
  }

 private:
  std::uint64_t state_;
};

// A seed for stream number `stream` of `seed`; streams are unrelated.
inline std::uint64_t stream_seed(std::uint64_t seed, std::uint64_t stream) {
  SplitMix64 outer(seed);
  return SplitMix64(outer.next() ^ (stream * 0xD1342543DE82EF95u)).next();
}

} // namespace egpurun::runtime
