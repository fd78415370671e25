#pragma once

#include <memory>

#include "runtime/codecs/codec.h"

namespace egpurun::runtime {

// Identity: the values' own float32 bytes (little-endian hosts).
std::unique_ptr<Codec> make_none_codec();

} // namespace egpurun::runtime
