// SPDX-License-Identifier: Apache-2.0
// The hot loops of expanding, one set for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codecs/inflate.h"

namespace daliesque::codecs {

struct InflateLoops {
  /// Expands codes until `target` is reached or the block ends, for which `*ended` is set. May
  /// write up to `Inflater::kOvershoot` bytes more.
  InflateFault (*expand)(InflateBits* bits, const InflateTables& tables, const uint8_t* history,
                         uint8_t** out, uint8_t* target, bool* ended);

  /// Adds the bytes to both sums of the checksum; no more than `kAdlerBytes` at once.
  void (*add_adler)(uint32_t* low, uint32_t* high, const uint8_t* data, size_t size);
};

/// So many bytes do not let the sums wrap around.
constexpr size_t kAdlerBytes = 4096;

namespace portable {
extern const InflateLoops inflate_loops;
}
namespace avx2 {
extern const InflateLoops inflate_loops;
}

}  // namespace daliesque::codecs
