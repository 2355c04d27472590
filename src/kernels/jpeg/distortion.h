// SPDX-License-Identifier: Apache-2.0
// What JPEG compression does to an image, without the file in between.
#pragma once

#include <cstdint>

#include "core/half.h"
#include "core/per_sample.h"
#include "core/samples.h"

namespace daliesque::jpeg {

/// Subjects RGB images (uint8 HWC) to compression with 4:2:0 color and the standard tables at the
/// given quality, 1 to 100.
void jpeg_distortion(Samples& out, const Samples& in, PerSample<int32_t> quality);

/// A table for quantization of coefficients that are 8 times too large: n / (8 * quant), rounded
/// down, is (n * reciprocal >> 16) * scale >> 16 for n below 2^14; to round to the nearest integer,
/// n is the magnitude plus a half of the divisor.
struct Divisors {
  uint16_t half[64], reciprocal[64], scale[64];
};

/// The loops that only compression needs. Rows may be read and written up to kRowPadding beyond
/// their end, except those of pixels.
struct EncoderLoops {
  /// RGB pixels to full-range YCbCr.
  void (*to_ycbcr)(uint8_t* y, uint8_t* cb, uint8_t* cr, const uint8_t* pixels, int count);

  /// Averages squares of four values of two rows.
  void (*downsample)(uint8_t* out, const uint8_t* upper, const uint8_t* lower, int count);

  /// Transforms and quantizes `count` blocks of a strip of 8 rows; `last` gets the index in file
  /// order of a coefficient behind which all are zero.
  void (*forward_dct)(int16_t* coefficients, uint8_t* last, const uint8_t* in, int64_t stride,
                      int count, const Divisors& by);
};

#define DALIESQUE_ENCODER_LOOPS                                                             \
  void forward_dct(int16_t* coefficients, uint8_t* last, const uint8_t* in, int64_t stride, \
                   int count, const Divisors& by);                                          \
  extern const EncoderLoops encoder_loops;

namespace portable {
DALIESQUE_ENCODER_LOOPS
}
namespace avx2 {
DALIESQUE_ENCODER_LOOPS
}

#undef DALIESQUE_ENCODER_LOOPS

}  // namespace daliesque::jpeg
