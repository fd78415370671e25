#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

namespace egpurun::topology {

// Wall-clock length with a fraction; convert with std::chrono only.
using Seconds = std::chrono::duration<double>;

// A number of bytes. Print sizes of buffers in MiB (2^20), traffic in MB
// (10^6).
struct Bytes {
  std::uint64_t count = 0;

  auto operator<=>(const Bytes&) const = default;
  constexpr double megabytes() const {
    return static_cast<double>(count) / 1e6;
  }
  constexpr double mebibytes() const {
    return static_cast<double>(count) / (1024.0 * 1024.0);
  }
};

constexpr Bytes operator+(Bytes a, Bytes b) {
  return {a.count + b.count};
}
constexpr Bytes& operator+=(Bytes& a, Bytes b) {
  a.count += b.count;
  return a;
}

// Data rate in 10^9 bytes per second, the only rate unit inside egpurun.
struct GigabytesPerSecond {
  double value = 0;

  auto operator<=>(const GigabytesPerSecond&) const = default;
  // Network links are sold in Gbit/s.
  constexpr double gigabits_per_second() const {
    return value * 8;
  }
  static constexpr GigabytesPerSecond from_gigabits_per_second(double rate) {
    return {rate / 8};
  }
};

// Rate of moving `bytes` in `time`; 0 for a time that is not positive.
constexpr GigabytesPerSecond rate_of(Bytes bytes, Seconds time) {
  if (time.count() <= 0) {
    return {0};
  }
  return {static_cast<double>(bytes.count) / time.count() / 1e9};
}

// Time to move `bytes` at `rate` (> 0).
constexpr Seconds time_of(Bytes bytes, GigabytesPerSecond rate) {
  return Seconds(static_cast<double>(bytes.count) / (rate.value * 1e9));
}

} // namespace egpurun::topology

namespace egpurun {
using topology::Bytes;
using topology::GigabytesPerSecond;
using topology::Seconds;
} // namespace egpurun
