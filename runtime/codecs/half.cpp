#include "runtime/codecs/half.h"

#include <algorithm>

// Highway compiles this file once per CPU generation.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/codecs/half.cpp"
#include <hwy/foreach_target.h> // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace egpurun::runtime::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using WordTag = hn::RebindToUnsigned<FloatTag>;
using HalfTag = hn::Rebind<std::uint16_t, FloatTag>;
constexpr std::size_t kMaxLanes = hn::MaxLanes(FloatTag());

// Bits of binary32 in, bits of binary16 out. Three ranges: subnormal halves
// are rounded by one float addition, normal ones by an integer carry, NaN is
// replaced. Names: magnitude = bits without the sign.
template <class V>
HWY_INLINE V half_bits(WordTag words, V bits) {
  const FloatTag floats;
  const auto sign = hn::And(bits, hn::Set(words, 0x80000000u));
  const auto magnitude = hn::Xor(bits, sign);

  // Adding 0.5 aligns the mantissa so that its last 10 bits are the half's.
  const auto half_unit = hn::Set(words, 0x3f000000u);
  const auto subnormal = hn::Sub(
      hn::BitCast(
          words,
          hn::Add(
              hn::BitCast(floats, magnitude), hn::BitCast(floats, half_unit))),
      half_unit);

  // Rebias the exponent (127 to 15), then round half to even on bit 13.
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(words, 1u));
  const auto rebias_and_round = hn::Set(words, 0xc8000fffu);
  const auto normal =
      hn::ShiftRight<13>(hn::Add(hn::Add(magnitude, rebias_and_round), odd));

  const auto infinity = hn::Set(words, 0x7c00u);
  const auto nan = hn::Set(words, 0x7e00u);
  auto result = hn::IfThenElse(
      hn::Lt(magnitude, hn::Set(words, 0x38800000u)), subnormal, normal);
  result = hn::IfThenElse(
      hn::Gt(magnitude, hn::Set(words, 0x477fffffu)), infinity, result);
  result = hn::IfThenElse(
      hn::Gt(magnitude, hn::Set(words, 0x7f800000u)), nan, result);
  return hn::Or(result, hn::ShiftRight<16>(sign));
}

template <class V>
HWY_INLINE V float_bits(WordTag words, V half) {
  const FloatTag floats;
  const auto sign = hn::ShiftLeft<16>(hn::And(half, hn::Set(words, 0x8000u)));
  const auto shifted =
      hn::ShiftLeft<13>(hn::And(half, hn::Set(words, 0x7fffu)));
  const auto exponent = hn::And(shifted, hn::Set(words, 0x7c00u << 13));
  const auto normal = hn::Add(shifted, hn::Set(words, (127u - 15u) << 23));
  const auto special = hn::Add(normal, hn::Set(words, (128u - 16u) << 23));
  const auto magic = hn::Set(words, 113u << 23);
  const auto subnormal = hn::BitCast(
      words,
      hn::Sub(
          hn::BitCast(floats, hn::Add(normal, hn::Set(words, 1u << 23))),
          hn::BitCast(floats, magic)));
  auto result =
      hn::IfThenElse(hn::Eq(exponent, hn::Zero(words)), subnormal, normal);
  result = hn::IfThenElse(
      hn::Eq(exponent, hn::Set(words, 0x7c00u << 13)), special, result);
  return hn::Or(result, sign);
}

// Runs `kernel(offset)` for whole vectors; the rest goes through a buffer of
// one vector so that the tail is rounded by the very same instructions.
void FloatToHalf(const float* values, std::uint16_t* halves, std::size_t n) {
  const FloatTag floats;
  const WordTag words;
  const HalfTag narrow;
  const std::size_t lanes = hn::Lanes(floats);
  const auto convert = [&](const float* from, std::uint16_t* to) HWY_ATTR {
    const auto bits = hn::BitCast(words, hn::LoadU(floats, from));
    hn::StoreU(hn::TruncateTo(narrow, half_bits(words, bits)), narrow, to);
  };
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    convert(values + i, halves + i);
  }
  if (i < n) {
    HWY_ALIGN float tail[kMaxLanes] = {};
    HWY_ALIGN std::uint16_t tail_halves[kMaxLanes];
    std::copy(values + i, values + n, tail);
    convert(tail, tail_halves);
    std::copy(tail_halves, tail_halves + (n - i), halves + i);
  }
}

template <bool kAdd>
void HalfToFloatOrAdd(
    const std::uint16_t* halves,
    float* values,
    std::size_t n) {
  const FloatTag floats;
  const WordTag words;
  const HalfTag narrow;
  const std::size_t lanes = hn::Lanes(floats);
  const auto convert = [&](const std::uint16_t* from, float* to) HWY_ATTR {
    const auto half = hn::PromoteTo(words, hn::LoadU(narrow, from));
    auto value = hn::BitCast(floats, float_bits(words, half));
    if constexpr (kAdd) {
      value = hn::Add(hn::LoadU(floats, to), value);
    }
    hn::StoreU(value, floats, to);
  };
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    convert(halves + i, values + i);
  }
  if (i < n) {
    HWY_ALIGN std::uint16_t tail[kMaxLanes] = {};
    HWY_ALIGN float tail_values[kMaxLanes] = {};
    std::copy(halves + i, halves + n, tail);
    std::copy(values + i, values + n, tail_values);
    convert(tail, tail_values);
    std::copy(tail_values, tail_values + (n - i), values + i);
  }
}

void HalfToFloat(const std::uint16_t* halves, float* values, std::size_t n) {
  HalfToFloatOrAdd<false>(halves, values, n);
}

void AddHalf(const std::uint16_t* halves, float* values, std::size_t n) {
  HalfToFloatOrAdd<true>(halves, values, n);
}

} // namespace egpurun::runtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace egpurun::runtime {

HWY_EXPORT(FloatToHalf);
HWY_EXPORT(HalfToFloat);
HWY_EXPORT(AddHalf);

void float_to_half(
    std::span<const float> values,
    std::span<std::uint16_t> halves) {
  HWY_DYNAMIC_DISPATCH(FloatToHalf)
  (values.data(), halves.data(), values.size());
}

void half_to_float(
    std::span<const std::uint16_t> halves,
    std::span<float> values) {
  HWY_DYNAMIC_DISPATCH(HalfToFloat)
  (halves.data(), values.data(), values.size());
}

void add_half(std::span<const std::uint16_t> halves, std::span<float> values) {
  HWY_DYNAMIC_DISPATCH(AddHalf)(halves.data(), values.data(), values.size());
}

namespace {

std::span<const std::uint16_t> as_halves(std::span<const std::byte> wire) {
  return {reinterpret_cast<const std::uint16_t*>(wire.data()), wire.size() / 2};
}

class Fp16Codec : public Codec {
 public:
  std::size_t encoded_bytes(std::size_t elements) const override {
    return elements * sizeof(std::uint16_t);
  }

  void encode(std::span<const float> values, std::span<std::byte> wire)
      const override {
    float_to_half(
        values,
        {reinterpret_cast<std::uint16_t*>(wire.data()), wire.size() / 2});
  }

  void decode(std::span<const std::byte> wire, std::span<float> values)
      const override {
    half_to_float(as_halves(wire), values);
  }

  void decode_add(std::span<const std::byte> wire, std::span<float> values)
      const override {
    add_half(as_halves(wire), values);
  }

  // Half a unit in the last of 11 bits; below 2^-14 the unit is 2^-24.
  float error_bound(float largest) const override {
    return std::max(largest * 0x1p-11f, 0x1p-25f);
  }
};

} // namespace

std::unique_ptr<Codec> make_fp16_codec() {
  return std::make_unique<Fp16Codec>();
}

} // namespace egpurun::runtime
#endif // HWY_ONCE
