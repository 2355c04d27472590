// SPDX-License-Identifier: Apache-2.0
// The hot loop of PNG, once for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace daliesque::codecs {

struct PngLoops {
  /// Undoes a filter (0 to 4) of a row: `previous` is the one above, zeros for the first. Pixels
  /// have 1, 2, 3, 4, 6 or 8 bytes. The rows do not overlap.
  void (*unfilter)(int filter, uint8_t* out, const uint8_t* in, const uint8_t* previous,
                   size_t bytes, size_t pixel_bytes);
};

namespace portable {
extern const PngLoops png_loops;
}
namespace avx2 {
extern const PngLoops png_loops;
}

}  // namespace daliesque::codecs
