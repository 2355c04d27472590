// SPDX-License-Identifier: Apache-2.0
// Linear interpolation of bytes by permutations: pixels that lie close to each other in the output
// come from a few short pieces of rows, which fit into registers. Only warp_bytes.simd.cpp may
// include this.
#pragma once

#include <cstring>

#include "image/warp_pixels.simd.h"
#include "image/warp_vectors.simd.h"

#ifdef __AVX512VBMI__

namespace daliesque::image::DALIESQUE_ISA {

/// A patch is a group of pixels: eight columns of two rows.
constexpr int kPatchColumns = 8;
constexpr int kPatchRows = kGroup / kPatchColumns;

/// Pieces of rows have this many bytes. Four of them are in a pair of registers, the piece of row r
/// in the slot r % 4, where a byte of a permutation's index finds it.
constexpr int kPiece = 32;
constexpr int kSlots = 4;

/// The pieces in registers cover the cells of this many rows, and are loaded so many times at most.
constexpr int kCovered = kSlots - 1;
constexpr int kMostPasses = 3;

/// Pieces of which all bytes are within the image's, from `data` on.
struct InnerPieces {
  static constexpr bool kInner = true;

  const uint8_t* data;
  int64_t pitch;

  DALIESQUE_INLINE __m256i operator[](int row) const {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data + row * pitch));
  }
};

/// Pieces from a row and a column on that may lie partly or wholly outside, where the fill value
/// is.
class EdgePieces {
 public:
  static constexpr bool kInner = false;

  DALIESQUE_INLINE EdgePieces(const WarpSurface& in, int32_t row, int32_t column)
      : pitch_(in.width * in.channels),
        height_(in.height),
        row_(row),
        begin_(column * in.channels),
        data_(static_cast<const uint8_t*>(in.data)),
        fill_(_mm256_loadu_si256(static_cast<const __m256i*>(in.fill))) {
    const int64_t first = begin_ < 0 ? -begin_ : 0, end = pitch_ - begin_;
    const int64_t last = end < kPiece ? end : kPiece;
    if (first < last) inside_ = static_cast<__mmask32>((1ull << last) - (1ull << first));
  }

  DALIESQUE_INLINE __m256i operator[](int row) const {
    const int64_t y = row_ + row;
    if (y < 0 || y >= height_) return fill_;
    return _mm256_mask_loadu_epi8(fill_, inside_, data_ + (y * pitch_ + begin_));
  }

 private:
  int64_t pitch_, height_, row_, begin_;
  const uint8_t* data_;
  __m256i fill_;
  __mmask32 inside_ = 0;
};

DALIESQUE_INLINE __m512i joined(__m256i low, __m256i high) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

/// Finds the neighbors of the pixels of a patch in pieces of rows, which are loaded `passes` times.
/// For each channel, four bytes of each pixel: left and right, of the row above and below each.
/// `base` is the offset of the first piece's first byte, where each row has kPiece bytes.
template <int channels, int passes, class Pieces>
DALIESQUE_INLINE void find_taps(__m512i* taps, const Pieces& pieces, __m512i column, __m512i row,
                                int32_t base) {
  const auto words = (__m512i)word_pairs((Ints)column, (Ints)row);
  const __m512i offsets =
      _mm512_sub_epi32(_mm512_madd_epi16(words, _mm512_set1_epi32(kPiece << 16 | channels)),
                       _mm512_set1_epi32(base));
  const __m512i four =
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12));
  const __m512i own = _mm512_shuffle_epi8(offsets, four);
  constexpr int32_t kTaps = kPiece << 8 | channels << 16 | (kPiece + channels) << 24;
  for (int c = 0; c < channels; c++) {
    taps[c] = _mm512_add_epi8(own, _mm512_set1_epi32(kTaps + 0x01010101 * c));
  }
  __m512i first = joined(pieces[0], pieces[1]), second = joined(pieces[2], pieces[3]);
  if constexpr (passes == 1) {
    for (int c = 0; c < channels; c++) {
      taps[c] = _mm512_permutex2var_epi8(first, taps[c], second);
    }
  } else {
    // What is not chosen keeps its index until its row is there.
    const auto take = [&](__mmask64 chosen) {
      for (int c = 0; c < channels; c++) {
        taps[c] = _mm512_mask2_permutex2var_epi8(first, taps[c], chosen, second);
      }
    };
    // Offsets of all passes do not fit into bytes, but their halves do.
    constexpr int kHalved = passes > 2;
    const __m512i rows =
        kHalved ? _mm512_shuffle_epi8(_mm512_srli_epi32(offsets, kHalved), four) : own;
    const auto covered = [&](int count) {
      return _mm512_cmplt_epu8_mask(rows,
                                    _mm512_set1_epi8(static_cast<char>(count * kPiece >> kHalved)));
    };
    const __mmask64 above = covered(kCovered);
    take(above);
    first = joined(pieces[4], pieces[5]);
    second = _mm512_inserti64x4(second, pieces[6], 0);
    if constexpr (passes == 2) {
      take(_knot_mask64(above));
    } else {
      const __mmask64 middle = covered(2 * kCovered);
      take(_kandn_mask64(above, middle));
      first = joined(pieces[8], pieces[9]);
      second = _mm512_inserti64x4(second, pieces[7], 1);
      take(_knot_mask64(middle));
    }
  }
}

/// Stores bits 14 to 21 of words of 32 bits as the bytes of a patch, whose rows are `pitch` apart.
template <int channels>
DALIESQUE_INLINE void store_patch(uint8_t* out, int64_t pitch, const __m512i* sums) {
  if constexpr (channels == 1) {
    const __m128i bytes = _mm512_cvtepi32_epi8(_mm512_srli_epi32(sums[0], 14));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out), bytes);
    _mm_storeh_pd(reinterpret_cast<double*>(out + pitch), _mm_castsi128_pd(bytes));
    return;
  }
  // First the pixels of each half of an xmm register, whose first bits are at 14 and 46.
  constexpr int64_t kShifts = 0x2e2e2e0e0e0e;
  const __m512i shifts = _mm512_set1_epi64(kShifts);
  __m512i pixels = _mm512_maskz_multishift_epi64_epi8(0x0909090909090909, shifts, sums[0]);
  pixels = _mm512_mask_multishift_epi64_epi8(pixels, 0x1212121212121212, shifts, sums[1]);
  pixels = _mm512_mask_multishift_epi64_epi8(pixels, 0x2424242424242424, shifts, sums[2]);
  alignas(64) static constexpr uint8_t kTight[64] = {
      0,  1,  2,  3,  4,  5,  8,  9,  10, 11, 12, 13, 16, 17, 18, 19, 20, 21, 24, 25, 26, 27,
      28, 29, 0,  0,  0,  0,  0,  0,  0,  0,  32, 33, 34, 35, 36, 37, 40, 41, 42, 43, 44, 45,
      48, 49, 50, 51, 52, 53, 56, 57, 58, 59, 60, 61, 0,  0,  0,  0,  0,  0,  0,  0};
  const __m512i tight = _mm512_permutexvar_epi8(_mm512_load_si512(kTight), pixels);
  constexpr __mmask32 kRow = (1u << (kPatchColumns * 3)) - 1;
  _mm256_mask_storeu_epi8(out, kRow, _mm512_castsi512_si256(tight));
  _mm256_mask_storeu_epi8(out + pitch, kRow, _mm512_extracti64x4_epi64(tight, 1));
}

/// The coordinates of a patch, less 1/2: where they lie between centers of pixels.
struct PatchPositions {
  Floats x, y;

  DALIESQUE_INLINE PatchPositions(const float* at_x, const float* at_y)
      : x(load(at_x) - 0.5f), y(load(at_y) - 0.5f) {}

 private:
  DALIESQUE_INLINE static Floats load(const float* row) {
    return (Floats)joined(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(row)),
                          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + kWarpColumns)));
  }
};

constexpr int kFloor = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;

/// How far positions lie behind those of their cells. Differences from negative positions are
/// rounded, which the instruction for it does in another way.
template <bool inner>
DALIESQUE_INLINE Floats rest_of(Floats position, __m512i cell) {
  if constexpr (inner) return (Floats)_mm512_reduce_ps((__m512)position, kFloor);
  return position - to_floats((Ints)cell);
}

template <int channels, int passes, class Pieces>
DALIESQUE_INLINE void blend_pieces(uint8_t* out, int64_t pitch, const Pieces& pieces,
                                   const PatchPositions& at, int32_t base) {
  __m512i taps[channels], sums[channels];
  const __m512i column = _mm512_cvt_roundps_epi32((__m512)at.x, kFloor);
  const __m512i row = _mm512_cvt_roundps_epi32((__m512)at.y, kFloor);
  find_taps<channels, passes>(taps, pieces, column, row, base);
  const WeightPairs w =
      weight_pairs(rest_of<Pieces::kInner>(at.x, column), rest_of<Pieces::kInner>(at.y, row));
  for (int c = 0; c < channels; c++) {
    const __m512i above = _mm512_and_si512(taps[c], _mm512_set1_epi16(0xff));
    const __m512i below = _mm512_srli_epi16(taps[c], 8);
    const __m512i sum = _mm512_add_epi32(_mm512_madd_epi16(above, (__m512i)w.upper),
                                         _mm512_madd_epi16(below, (__m512i)w.lower));
    sums[c] = _mm512_add_epi32(sum, _mm512_set1_epi32(kOne / 2));
  }
  store_patch<channels>(out, pitch, sums);
}

/// Coordinates of neighboring rows differ by nearly the same all along a strip, and less than this
/// is lost by rounding. So it is for images whose sides are at most kLargestSide.
constexpr float kMargin = 0.125f, kLargestSide = 8192;

/// Two neighboring rows of a straight tile, in patches.
struct Strip {
  /// The coordinates of the first row.
  const float* at_x;
  const float* at_y;
  /// The coordinates of those pixels of the first patch that are farthest to the left and to the
  /// top. Those of others follow, kPatchColumns apart.
  const float* x;
  const float* y;
  /// How far cells of a patch lie from these, at most.
  float width, height;
  /// Where all of its cells lie.
  float left, right, top, bottom;

  DALIESQUE_INLINE Strip(const WarpCoordinates& at, int row) : at_x(at.x[row]), at_y(at.y[row]) {
    measure(x, width, left, right, at_x);
    measure(y, height, top, bottom, at_y);
  }

  /// Whether patches find their pixels in pieces of rows.
  template <int channels>
  DALIESQUE_INLINE bool is_close() const {
    return width < kPiece / channels - 2 && height < kCovered * kMostPasses - 1 &&
           left > -kLargestSide && right < kLargestSide && top > -kLargestSide &&
           bottom < kLargestSide;
  }

 private:
  DALIESQUE_INLINE static void measure(const float*& least, float& extent, float& low, float& high,
                                       const float* row) {
    const float* next = row + kWarpColumns;
    const float first = row[0], last = row[kWarpColumns - 1];
    const float below = next[0], last_below = next[kWarpColumns - 1];
    const float across = last - first, down = below - first, last_down = last_below - last;
    least = (down + last_down < 0 ? next : row) + (across < 0 ? kPatchColumns - 1 : 0);
    const auto size = [](float v) { return __builtin_fabsf(v); };
    const auto lower = [](float a, float b) { return a < b ? a : b; };
    const auto higher = [](float a, float b) { return a < b ? b : a; };
    extent = size(across) * (kPatchColumns - 1.0f) / (kWarpColumns - 1) +
             higher(size(down), size(last_down)) + 2 * kMargin;
    low = lower(lower(first, last), lower(below, last_below)) - 0.5f - kMargin;
    high = higher(higher(first, last), higher(below, last_below)) - 0.5f + kMargin;
  }
};

/// Where a patch of a strip begins to look for pixels.
struct PatchCorner {
  float x, y;

  DALIESQUE_INLINE PatchCorner(const Strip& strip, int column)
      : x(strip.x[column] - (0.5f + kMargin)), y(strip.y[column] - (0.5f + kMargin)) {}
};

/// Makes patches of a strip, from the column `begin` to `end`, whose pieces are all in the image.
template <int channels, int passes>
[[gnu::noinline]] static void blend_inner(uint8_t* out, int64_t out_pitch, const WarpSurface& in,
                                          const Strip& strip, int begin, int end) {
  const auto* data = static_cast<const uint8_t*>(in.data);
  const int64_t pitch = in.width * channels;
  for (int column = begin; column < end; column += kPatchColumns) {
    const PatchCorner corner(strip, column);
    const auto left = static_cast<int32_t>(corner.x), top = static_cast<int32_t>(corner.y);
    const InnerPieces pieces{data + top * pitch + left * channels, pitch};
    blend_pieces<channels, passes>(out + column * channels, out_pitch, pieces,
                                   PatchPositions(strip.at_x + column, strip.at_y + column),
                                   top * kPiece + left * channels);
  }
}

/// Makes a patch that meets an edge of the image or lies outside. The border is a constant one.
template <int channels>
[[gnu::noinline]] static void blend_edge(uint8_t* out, int64_t out_pitch, const WarpSurface& in,
                                         const Strip& strip, int column) {
  const auto [x, y] = PatchCorner(strip, column);
  if (x + strip.width < -1 || x >= static_cast<float>(in.width) || y + strip.height < -1 ||
      y >= static_cast<float>(in.height)) {
    for (int k = 0; k < kPatchRows; k++) {
      std::memcpy(out + k * out_pitch, in.fill, kPatchColumns * channels);
    }
    return;
  }
  const int32_t left = floor_int(x), top = floor_int(y);
  blend_pieces<channels, kMostPasses>(out, out_pitch, EdgePieces(in, top, left),
                                      PatchPositions(strip.at_x + column, strip.at_y + column),
                                      top * kPiece + left * channels);
}

/// Makes the patches of a strip, and calls edge(out, column) for those that meet an edge of the
/// image or lie outside.
template <int channels, int passes, class Edge>
DALIESQUE_INLINE void blend_strip(uint8_t* out, int64_t pitch, const WarpSurface& in,
                                  const Strip& strip, int columns, Edge&& edge) {
  // Behind the last cells whose neighbors, and pieces of rows, are in the image.
  const auto last_column = static_cast<float>(in.width - 1);
  const auto last_row = static_cast<float>(in.height - 1 - kCovered * passes);
  const bool loadable = in.width * channels >= kPiece;
  if (loadable && strip.left >= 0 && strip.right < last_column && strip.top >= 0 &&
      strip.bottom < last_row) {
    blend_inner<channels, passes>(out, pitch, in, strip, 0, columns);
    return;
  }
  const auto is_inner = [&](int column) {
    const auto [x, y] = PatchCorner(strip, column);
    return loadable && x >= 0 && x + strip.width < last_column && y >= 0 && y < last_row;
  };
  for (int column = 0; column < columns; column += kPatchColumns) {
    const int begin = column;
    while (column < columns && is_inner(column)) column += kPatchColumns;
    if (column > begin) blend_inner<channels, passes>(out, pitch, in, strip, begin, column);
    if (column < columns) edge(out + column * channels, column);
  }
}

}  // namespace daliesque::image::DALIESQUE_ISA

#endif
