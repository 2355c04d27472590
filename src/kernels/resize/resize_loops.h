// SPDX-License-Identifier: Apache-2.0
// Inner loops of resampling: in plain C++, for AVX2 and, for uint8, for AVX-512, with equal
// results.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/half.h"

namespace daliesque::resize {

/// Rows are resampled horizontally in groups of this size, one row per vector lane.
constexpr int kRowGroup = 8;

/// Outputs of a horizontal pass are made in blocks of this many pixels, so that the transposed
/// inputs of a block stay in the first-level cache.
constexpr int64_t kColumnBlock = 64;

/// The uint8 kernels take up to this many channels; beyond, float32 is used.
constexpr int64_t kMaxFixedChannels = 4;

/// Elements that follow each 16-bit intermediate row: kernels may read (and ignore) them.
constexpr int64_t kRowPadding = 16;

/// Fraction bits of the 16-bit intermediate values of uint8 images. Filters with negative weights
/// overshoot, so that their values are signed and need headroom. Without, values fill the 16 bits
/// and are stored with kWideOffset subtracted.
constexpr int kSignedFraction = 6;
constexpr int kWideFraction = 8;
constexpr int kWideOffset = 32768;

struct InputRange {
  int64_t begin, end;
};

/// A horizontal pass as the kernels see it. Inputs are counted from the first one that is used.
/// `Weight` is float with one tap each, or int32_t with a pair of taps each; then `start` and
/// `blocks` count pairs.
template <class Weight>
struct Columns {
  int64_t out_size;
  int64_t channels;
  int taps;          ///< weights per output
  int32_t rounding;  ///< added to sums of 16-bit weights, before
  int shift;         ///< so many low bits are dropped
  const int32_t* start;
  const Weight* weights;
  const InputRange* blocks;  ///< inputs of each block of kColumnBlock outputs
  int64_t block_span;        ///< the longest of them
};

enum class PixelType : int { uint8, uint16, int16, float32 };
constexpr int kPixelTypes = 4;

constexpr int64_t size_of(PixelType type) {
  return type == PixelType::uint8 ? 1 : type == PixelType::float32 ? 4 : 2;
}

/// The rows that make one output row, and those that later ones will need.
template <class Pixel, class Weight>
struct RowTaps {
  const Pixel* const* rows;
  const Weight* weights;
  int taps;
  const Pixel* const* ahead = nullptr;
  int ahead_count = 0;

  /// Brings the cache line at this offset of the rows ahead into the cache. Done bit by bit while
  /// other rows are blended, it does not keep those waiting.
  DALIESQUE_INLINE void fetch(int64_t offset) const {
    for (int k = 0; k < ahead_count; k++) {
      __builtin_prefetch(reinterpret_cast<const std::byte*>(ahead[k]) + offset, 0, 2);
    }
  }
};

/// Single precision, bit for bit like the reference.
struct FloatResizeLoops {
  /// out[i] = sum over k of rows[k][i] * weights[k], for i < count.
  using BlendRows = void (*)(void* out, const RowTaps<void, float>& taps, int64_t count);
  /// Resamples `count` (1 ... kRowGroup) rows; the pointers beyond repeat an earlier row and are
  /// only read. `scratch` has column_scratch() bytes, 64-byte aligned.
  using ResampleColumns = void (*)(void* const* out, const void* const* rows, int count,
                                   const Columns<float>& columns, void* scratch);

  /// By [output type][input type]; null unless the types are equal or one of them is float32.
  BlendRows blend_rows[kPixelTypes][kPixelTypes];
  ResampleColumns resample_columns[kPixelTypes][kPixelTypes];
};

/// 16-bit fixed point for uint8 pixels.
struct FixedResizeLoops {
  /// For weights of either sign, in pairs; `shift` low bits of the sums are rounded away.
  using SignedTaps = RowTaps<uint8_t, int32_t>;
  void (*blend_signed)(uint8_t* out, const SignedTaps& taps, int shift, int64_t count);
  void (*blend_signed_wide)(int16_t* out, const SignedTaps& taps, int shift, int64_t count);
  /// For weights of at least zero, adding up to 65536.
  using UnsignedTaps = RowTaps<uint8_t, uint16_t>;
  void (*blend_unsigned)(uint8_t* out, const UnsignedTaps& taps, int64_t count);
  void (*blend_unsigned_wide)(int16_t* out, const UnsignedTaps& taps, int64_t count);
  /// Like FloatResizeLoops::ResampleColumns, from 16-bit rows.
  void (*resample_columns)(uint8_t* const* out, const int16_t* const* rows, int count,
                           const Columns<int32_t>& columns, void* scratch);
};

/// Bytes of scratch memory for a horizontal pass, with padding for vectors written past the end.
template <class Weight>
constexpr size_t column_scratch(const Columns<Weight>& columns) {
  const auto vectors = (columns.block_span + kColumnBlock + 2) * columns.channels + 16;
  return static_cast<size_t>(vectors) * kRowGroup * sizeof(float);
}

namespace portable {
extern const FloatResizeLoops float_resize_loops;
extern const FixedResizeLoops fixed_resize_loops;
}  // namespace portable
namespace avx2 {
extern const FloatResizeLoops float_resize_loops;
extern const FixedResizeLoops fixed_resize_loops;
}  // namespace avx2
namespace avx512 {
extern const FixedResizeLoops fixed_resize_loops;
}  // namespace avx512

}  // namespace daliesque::resize
