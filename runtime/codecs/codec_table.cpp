#include "runtime/codecs/codec_table.h"

#include <fmt/format.h>

#include "runtime/codecs/half.h"
#include "runtime/codecs/none.h"
#include "topology/error.h"

namespace egpurun::runtime {

namespace {

constexpr CodecRow kCodecs[] = {
    {"none", "float32 as it is, 4 bytes per element", make_none_codec},
    {"fp16", "IEEE half precision, 2 bytes per element", make_fp16_codec},
};

} // namespace

std::span<const CodecRow> codec_table() {
  return kCodecs;
}

std::unique_ptr<Codec> make_codec(const std::string& name) {
  std::string known;
  for (const CodecRow& row : kCodecs) {
    if (row.name == name) {
      return row.make();
    }
    known += fmt::format("{}{}", known.empty() ? "" : ", ", row.name);
  }
  throw Error(
      ErrorKind::kBadInput,
      fmt::format("gradients.codec = \"{}\"", name),
      fmt::format("the codecs are: {}", known),
      "write one of these in the job file's [gradients]");
}

} // namespace egpurun::runtime
