#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "runtime/codecs/codec.h"

namespace egpurun::runtime {

struct CodecRow {
  std::string_view name; // the job file's word
  std::string_view description;
  std::unique_ptr<Codec> (*make)();
};

// All codecs; help texts and the conformance tests walk this table.
std::span<const CodecRow> codec_table();

// Throws Error (kBadInput) for a name that is not in the table.
std::unique_ptr<Codec> make_codec(const std::string& name);

} // namespace egpurun::runtime
