// Every row of the codec table is held to the Codec contract.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "runtime/codecs/codec_table.h"
#include "topology/error.h"

namespace egpurun::runtime {
namespace {

const std::size_t kSizes[] = {0, 1, 2, 15, 16, 17, 511, 512, 513, 15361};

std::vector<float> random_values(std::size_t count, float largest) {
  std::mt19937 generator(static_cast<unsigned>(count) + 1);
  std::uniform_real_distribution<float> uniform(-largest, largest);
  std::vector<float> values(count);
  for (float& value : values) {
    value = uniform(generator);
  }
  return values;
}

std::vector<std::byte> encoded(
    const Codec& codec,
    const std::vector<float>& values) {
  std::vector<std::byte> wire(codec.encoded_bytes(values.size()));
  codec.encode(values, wire);
  return wire;
}

std::vector<float> round_trip(
    const Codec& codec,
    const std::vector<float>& values) {
  std::vector<float> result(values.size());
  codec.decode(encoded(codec, values), result);
  return result;
}

class CodecConformance : public testing::TestWithParam<CodecRow> {
 protected:
  std::unique_ptr<Codec> codec_ = GetParam().make();
};

TEST_P(CodecConformance, ErrorStaysWithinTheBound) {
  for (const float largest : {1e-8f, 1e-3f, 1.0f, 1000.0f}) {
    for (const std::size_t count : kSizes) {
      const auto values = random_values(count, largest);
      const auto decoded = round_trip(*codec_, values);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_LE(
            std::abs(decoded[i] - values[i]), codec_->error_bound(largest))
            << values[i] << " of " << count;
      }
    }
  }
}

TEST_P(CodecConformance, EncodingTwiceGivesTheSameBits) {
  const auto values = random_values(1000, 3.0f);
  EXPECT_EQ(encoded(*codec_, values), encoded(*codec_, values));
}

TEST_P(CodecConformance, EncodingADecodedValueIsStable) {
  const auto once = round_trip(*codec_, random_values(1000, 3.0f));
  const auto twice = round_trip(*codec_, once);
  EXPECT_EQ(
      std::memcmp(once.data(), twice.data(), once.size() * sizeof(float)), 0);
}

TEST_P(CodecConformance, DecodeAddEqualsDecodeThenAdd) {
  for (const std::size_t count : kSizes) {
    const auto values = random_values(count, 2.0f);
    const auto wire = encoded(*codec_, values);
    auto sum = random_values(count, 5.0f);
    auto expected = sum;
    std::vector<float> decoded(count);
    codec_->decode(wire, decoded);
    for (std::size_t i = 0; i < count; ++i) {
      expected[i] += decoded[i];
    }
    codec_->decode_add(wire, sum);
    EXPECT_EQ(sum, expected) << count;
  }
}

TEST_P(CodecConformance, PiecesDecodeLikeTheWhole) {
  // Chunks of an all-reduce begin at multiples of 512 elements.
  const auto values = random_values(1500, 1.0f);
  const auto whole = round_trip(*codec_, values);
  for (std::size_t begin = 0; begin < values.size(); begin += 512) {
    const std::size_t end = std::min<std::size_t>(begin + 512, values.size());
    const std::vector<float> piece(
        values.begin() + static_cast<std::ptrdiff_t>(begin),
        values.begin() + static_cast<std::ptrdiff_t>(end));
    const auto decoded = round_trip(*codec_, piece);
    EXPECT_TRUE(std::equal(
        decoded.begin(),
        decoded.end(),
        whole.begin() + static_cast<std::ptrdiff_t>(begin)));
  }
}

TEST_P(CodecConformance, NotANumberAndInfinityAreNotHidden) {
  std::vector<float> values(100, 1.0f);
  values[7] = std::numeric_limits<float>::quiet_NaN();
  values[42] = std::numeric_limits<float>::infinity();
  values[99] = -std::numeric_limits<float>::infinity();
  const auto decoded = round_trip(*codec_, values);
  EXPECT_TRUE(std::isnan(decoded[7]));
  EXPECT_TRUE(std::isinf(decoded[42]) || std::isnan(decoded[42]));
  EXPECT_TRUE(std::isinf(decoded[99]) || std::isnan(decoded[99]));
}

INSTANTIATE_TEST_SUITE_P(
    AllCodecs,
    CodecConformance,
    testing::ValuesIn(codec_table().begin(), codec_table().end()),
    [](const auto& row) { return std::string(row.param.name); });

TEST(CodecTable, UnknownNameListsTheCodecs) {
  try {
    make_codec("fp61");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    for (const CodecRow& row : codec_table()) {
      EXPECT_NE(error.found().find(row.name), std::string::npos);
    }
  }
}

} // namespace
} // namespace egpurun::runtime
