// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/samples.h"

namespace daliesque::records {

/// A chunk of compressed data that cannot be read, and why.
struct Lz4Failure {
  int64_t sample, chunk;
  std::string reason;
};

/// Decompresses LZ4 blocks. Chunk k of sample i are `sizes` bytes from `offsets` on, both int64
/// vectors; its data fill one of as many equal parts of the output sample, and zeros what is left.
/// Offsets and sizes lie within the input. Returns the first failure.
std::optional<Lz4Failure> lz4_decompress(Samples& out, const Samples& in, const Samples& offsets,
                                         const Samples& sizes);

}  // namespace daliesque::records
