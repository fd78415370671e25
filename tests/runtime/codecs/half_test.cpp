// The SIMD conversions against the definition of binary16, on every
// instruction set of this CPU.

#include "runtime/codecs/half.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace egpurun::runtime {
namespace {

// Value of a half from its definition: sign, 5 bits exponent, 10 bits mantissa.
double half_value(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 31) {
    return mantissa != 0 ? std::nan("")
                         : sign * std::numeric_limits<double>::infinity();
  }
  return exponent == 0 ? sign * std::ldexp(mantissa, -24)
                       : sign * std::ldexp(1024 + mantissa, exponent - 25);
}

// Nearest half, ties to the even mantissa; by search, not by bit tricks.
std::uint16_t nearest_half(float value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) {
    return static_cast<std::uint16_t>(sign | 0x7e00);
  }
  const double magnitude = std::abs(static_cast<double>(value));
  std::uint16_t low = 0;
  std::uint16_t high = 0x7c00; // infinity stands for 65536 here
  while (high - low > 1) {
    const auto middle = static_cast<std::uint16_t>((low + high) / 2);
    (half_value(middle) <= magnitude ? low : high) = middle;
  }
  const double above = high == 0x7c00 ? 65536.0 : half_value(high);
  const double down = magnitude - half_value(low);
  const double up = above - magnitude;
  const bool take_high =
      magnitude >= 65536.0 || up < down || (up == down && low % 2 == 1);
  return static_cast<std::uint16_t>(sign | (take_high ? high : low));
}

std::vector<float> interesting_floats() {
  std::vector<float> floats;
  for (std::uint32_t bits = 0; bits < 0x10000u; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const auto exact = static_cast<float>(half_value(half));
    floats.push_back(exact);
    if (std::isfinite(exact)) {
      // Half way to the next half, and one float to both sides of that.
      const auto next = static_cast<std::uint16_t>(half + 1);
      const float middle = (half & 0x7fff) == 0x7bff
          ? std::copysign(65520.0f, exact)
          : static_cast<float>((half_value(half) + half_value(next)) / 2);
      floats.push_back(middle);
      floats.push_back(std::nextafter(middle, 0.0f));
      floats.push_back(std::nextafter(middle, 2 * middle));
    }
  }
  for (const float huge : {1e30f, -1e30f, 65536.0f, 1e-40f, -1e-40f}) {
    floats.push_back(huge);
  }
  return floats;
}

// Runs the test body once per instruction set that Highway can use here.
class EveryInstructionSet : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    hwy::SetSupportedTargetsForTest(GetParam());
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  void TearDown() override {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

TEST_P(EveryInstructionSet, RoundsToNearestEven) {
  const auto floats = interesting_floats();
  std::vector<std::uint16_t> halves(floats.size());
  float_to_half(floats, halves);
  for (std::size_t i = 0; i < floats.size(); ++i) {
    ASSERT_EQ(halves[i], nearest_half(floats[i]))
        << floats[i] << " bits " << std::bit_cast<std::uint32_t>(floats[i]);
  }
}

TEST_P(EveryInstructionSet, DecodesEveryHalfExactly) {
  std::vector<std::uint16_t> halves(0x10000);
  for (std::size_t i = 0; i < halves.size(); ++i) {
    halves[i] = static_cast<std::uint16_t>(i);
  }
  std::vector<float> floats(halves.size());
  half_to_float(halves, floats);
  std::vector<float> sums(halves.size(), 0.0f);
  add_half(halves, sums);
  for (std::size_t i = 0; i < halves.size(); ++i) {
    const double expected = half_value(halves[i]);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(floats[i]));
      ASSERT_TRUE(std::isnan(sums[i]));
    } else {
      ASSERT_EQ(static_cast<double>(floats[i]), expected) << i;
      ASSERT_EQ(static_cast<double>(sums[i]), expected) << i;
    }
  }
}

TEST_P(EveryInstructionSet, TailsMatchWholeVectors) {
  const auto floats = interesting_floats();
  std::vector<std::uint16_t> whole(floats.size());
  float_to_half(floats, whole);
  for (std::size_t count = 0; count < 70; ++count) {
    std::vector<std::uint16_t> part(count);
    float_to_half(std::span(floats).first(count), part);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin())) << count;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Half,
    EveryInstructionSet,
    testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
    [](const auto& target) {
      return std::string(hwy::TargetName(target.param));
    });

} // namespace
} // namespace egpurun::runtime
