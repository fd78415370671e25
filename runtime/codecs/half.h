#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "runtime/codecs/codec.h"

namespace egpurun::runtime {

// IEEE 754 binary16. Rounds to nearest even; beyond 65504 becomes infinity;
// every NaN becomes the quiet NaN 0x7e00 with its sign.
std::unique_ptr<Codec> make_fp16_codec();

// The SIMD kernels behind it. Same bits on every CPU, unlike Highway 1.0's
// DemoteTo, which truncates below AVX2. Sizes of each pair must agree.
void float_to_half(
    std::span<const float> values,
    std::span<std::uint16_t> halves);
void half_to_float(
    std::span<const std::uint16_t> halves,
    std::span<float> values);
// values[i] += halves[i]
void add_half(std::span<const std::uint16_t> halves, std::span<float> values);

} // namespace egpurun::runtime
