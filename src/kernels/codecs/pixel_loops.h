// SPDX-License-Identifier: Apache-2.0
// Hot loops that move the channels of pixels, one set for each instruction set.
#pragma once

#include <cstdint>

namespace daliesque::codecs {

/// Red, green, blue, and a byte that means nothing.
using PaletteEntry = uint8_t[4];

/// Inputs and outputs do not overlap; exactly `count` pixels are read and written.
struct PixelLoops {
  /// Each byte three times.
  void (*spread)(uint8_t* out, const uint8_t* in, int64_t count);
  /// The first three of every four bytes.
  void (*drop_fourth)(uint8_t* out, const uint8_t* in, int64_t count);
  /// Three bytes in reverse order.
  void (*reverse)(uint8_t* out, const uint8_t* in, int64_t count);
  /// Three bytes of an entry of the palette for each index.
  void (*look_up)(uint8_t* out, const uint8_t* indices, int64_t count, const PaletteEntry* palette);
  /// Numbers of 1, 2 or 4 bits, the first one highest in its byte, multiplied by a factor.
  void (*unpack)(uint8_t* out, const uint8_t* in, int64_t count, int bits, uint8_t factor);
  /// 16-bit values as bytes: divided by 257 and rounded.
  void (*narrow)(uint8_t* out, const uint16_t* in, int64_t count);
};

/// The loops for this processor.
const PixelLoops& pixel_loops();

namespace portable {
extern const PixelLoops pixel_loops;
}
namespace avx2 {
extern const PixelLoops pixel_loops;
}

}  // namespace daliesque::codecs
