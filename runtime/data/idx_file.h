#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace egpurun::runtime {

// Content of an IDX file of unsigned bytes: values are row-major, their number
// is the product of `shape`.
struct IdxArray {
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> values;
};

// Reads a whole IDX file, gzipped or not. Format: magic 00 00 08 <dimensions>,
// one big-endian 32-bit size per dimension, then the bytes (the MNIST format,
// http://yann.lecun.com/exdb/mnist). Throws Error with the path if the file is
// missing, truncated, too long, corrupt, or has not `dimensions` dimensions.
IdxArray read_idx_file(const std::string& path, int dimensions);

} // namespace egpurun::runtime
