// SPDX-License-Identifier: Apache-2.0
// The hot loops of the decoder, one set for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "jpeg/entropy.h"

namespace daliesque::jpeg {

/// Rows passed to the loops below may be read and written up to this far beyond their end.
constexpr int kRowPadding = 64;

/// Up to four planes of one row.
struct PlaneRow {
  const uint8_t* plane[kMaxComponents];
};

/// Coefficients that stay while the scans of a progressive image are read.
struct Blocks {
  int16_t* coefficients;  ///< 64 of each block, row-major
  uint64_t* nonzero;      ///< of each block: bit k: AC coefficient k in file order is not 0
};

/// An AC scan of a progressive image.
struct BandScan {
  const BandTable* table = nullptr;
  Band band;
};

struct DecoderLoops {
  /// Decodes MCUs `begin` to `end` of a run. The coefficients of wanted blocks go to `coefficients`
  /// (64 each, row-major) and the file-order index of each block's last non-zero one to `last`.
  /// `coefficients` may be null: the MCUs are read over.
  EntropyError (*decode_mcus)(ScanReader* reader, const McuPlan& plan, int32_t* predictions,
                              int begin, int end, int16_t* coefficients, uint8_t* last);

  /// The scans of a progressive image. Those of DC coefficients store blocks as `plan` says; the
  /// first one clears them. Those of AC coefficients have blocks for units; `*run` is the number of
  /// coming blocks whose bands have ended.
  EntropyError (*decode_dc_first)(ScanReader* reader, const McuPlan& plan, int32_t* predictions,
                                  int begin, int end, const Blocks& blocks, int low);
  EntropyError (*decode_dc_refinement)(ScanReader* reader, const McuPlan& plan, int begin, int end,
                                       const Blocks& blocks, int low);
  EntropyError (*decode_ac_first)(ScanReader* reader, const BandScan& scan, int32_t* run, int begin,
                                  int end, const Blocks& blocks);
  EntropyError (*decode_ac_refinement)(ScanReader* reader, const BandScan& scan, int32_t* run,
                                       int begin, int end, const Blocks& blocks);

  /// Dequantizes and transforms `count` blocks into a strip of 8 rows and 8 * count columns.
  void (*inverse_dct)(uint8_t* out, ptrdiff_t stride, const int16_t* coefficients,
                      const uint8_t* last, int count, const uint16_t* quant);

  /// The same with the fast transform, for a table that `scale_for_fast_dct` made.
  void (*fast_inverse_dct)(uint8_t* out, ptrdiff_t stride, const int16_t* coefficients,
                           const uint8_t* last, int count, const uint16_t* quant);

  /// The same for blocks of 1, 2 and 4 samples a side, made of low frequencies; the first takes
  /// nothing but the DC coefficients.
  void (*reduced_inverse_dct[3])(uint8_t* out, ptrdiff_t stride, const int16_t* coefficients,
                                 const uint8_t* last, int count, const uint16_t* quant);

  /// Doubles a row horizontally with the triangle filter; in[-1] and in[count] are read.
  void (*upsample_h2v1)(uint8_t* out, const uint8_t* in, int count);

  /// The same in both directions: `near` is the row of the output, `far` the next one beside it.
  void (*upsample_h2v2)(uint8_t* out, const uint8_t* near, const uint8_t* far, int count);

  /// Vertically only; `lower`: the second of the two output rows of `near`.
  void (*upsample_h1v2)(uint8_t* out, const uint8_t* near, const uint8_t* far, int count,
                        bool lower);

  /// Repeats each of `count` values `factor` times.
  void (*replicate)(uint8_t* out, const uint8_t* in, int count, int factor);

  /// Full-range YCbCr to RGB or, if `reversed`, BGR pixels. Writes exactly `count` pixels.
  void (*ycbcr_to_pixels)(uint8_t* out, const PlaneRow& in, int count, bool reversed);

  /// Interleaves three planes. Writes exactly `count` pixels.
  void (*planes_to_pixels)(uint8_t* out, const PlaneRow& in, int count);

  /// Luma of RGB planes.
  void (*planes_to_gray)(uint8_t* out, const PlaneRow& in, int count);

  /// Limited-range YCbCr pixels from planes of RGB or, if `in_ycbcr`, of full-range YCbCr.
  void (*limited_ycbcr_to_pixels)(uint8_t* out, const PlaneRow& in, int count, bool in_ycbcr);

  /// CMYK pixels from planes of CMYK or, if `in_ycck`, of YCCK.
  void (*cmyk_to_pixels)(uint8_t* out, const PlaneRow& in, int count, bool in_ycck);
};

/// The fastest set that this processor runs.
const DecoderLoops& decoder_loops();

#define DALIESQUE_JPEG_LOOPS                                                                      \
  EntropyError decode_mcus(ScanReader* reader, const McuPlan& plan, int32_t* predictions,         \
                           int begin, int end, int16_t* coefficients, uint8_t* last);             \
  EntropyError decode_dc_first(ScanReader* reader, const McuPlan& plan, int32_t* predictions,     \
                               int begin, int end, const Blocks& blocks, int low);                \
  EntropyError decode_dc_refinement(ScanReader* reader, const McuPlan& plan, int begin, int end,  \
                                    const Blocks& blocks, int low);                               \
  EntropyError decode_ac_first(ScanReader* reader, const BandScan& scan, int32_t* run, int begin, \
                               int end, const Blocks& blocks);                                    \
  EntropyError decode_ac_refinement(ScanReader* reader, const BandScan& scan, int32_t* run,       \
                                    int begin, int end, const Blocks& blocks);                    \
  void inverse_dct(uint8_t* out, ptrdiff_t stride, const int16_t* coefficients,                   \
                   const uint8_t* last, int count, const uint16_t* quant);                        \
  void fast_inverse_dct(uint8_t* out, ptrdiff_t stride, const int16_t* coefficients,              \
                        const uint8_t* last, int count, const uint16_t* quant);                   \
  void inverse_dct_1x1(uint8_t* out, ptrdiff_t stride, const int16_t* coefficients,               \
                       const uint8_t* last, int count, const uint16_t* quant);                    \
  void inverse_dct_2x2(uint8_t* out, ptrdiff_t stride, const int16_t* coefficients,               \
                       const uint8_t* last, int count, const uint16_t* quant);                    \
  void inverse_dct_4x4(uint8_t* out, ptrdiff_t stride, const int16_t* coefficients,               \
                       const uint8_t* last, int count, const uint16_t* quant);                    \
  extern const DecoderLoops decoder_loops;

namespace portable {
DALIESQUE_JPEG_LOOPS
}
namespace avx2 {
DALIESQUE_JPEG_LOOPS
}

#undef DALIESQUE_JPEG_LOOPS

}  // namespace daliesque::jpeg
