// SPDX-License-Identifier: Apache-2.0
// Linear interpolation of bytes, a group of pixels at a time.
#include "image/warp_patches.simd.h"
#include "image/warp_pixels.simd.h"
#include "image/warp_vectors.simd.h"

namespace daliesque::image::DALIESQUE_ISA {

namespace {

/// Weights of the four neighbors. Their sum is always kOne, so flat areas stay as they are.
struct Weights {
  int32_t w00, w01, w10, w11;
};

DALIESQUE_INLINE int32_t fraction(float value) {
  const float sum = value * kOne + kNoFraction;
  int32_t bits;
  std::memcpy(&bits, &sum, sizeof bits);
  return bits & 0xffff;
}

DALIESQUE_INLINE Weights weights(float right, float below) {
  const int32_t both = fraction(right * below);
  const int32_t x = fraction(right) - both, y = fraction(below) - both;
  return {kOne - x - y - both, x, y, both};
}

DALIESQUE_INLINE uint8_t blend(const Weights& w, int p00, int p01, int p10, int p11) {
  const int32_t sum = w.w00 * p00 + w.w01 * p01 + w.w10 * p10 + w.w11 * p11;
  const int32_t value = (sum + kOne / 2) >> 14;
  return static_cast<uint8_t>(value < 0 ? 0 : value);
}

/// The four neighbors of a position: left and right in the row above it, then in the row below.
struct Corners {
  const uint8_t* taps[4];

  Corners(const WarpSurface& in, int64_t x, int64_t y) {
    if (x >= 0 && x < in.width - 1 && y >= 0 && y < in.height - 1) {
      const int64_t pitch = in.width * in.channels;
      taps[0] = static_cast<const uint8_t*>(in.data) + y * pitch + x * in.channels;
      taps[1] = taps[0] + in.channels;
      taps[2] = taps[0] + pitch;
      taps[3] = taps[2] + in.channels;
    } else if (in.border == Border::constant) {
      for (int k = 0; k < 4; k++) {
        const int64_t column = x + k % 2, row = y + k / 2;
        const bool exists = column >= 0 && column < in.width && row >= 0 && row < in.height;
        const int64_t offset = exists ? (row * in.width + column) * in.channels : 0;
        taps[k] = static_cast<const uint8_t*>(exists ? in.data : in.fill) + offset;
      }
    } else {
      for (int k = 0; k < 4; k++) taps[k] = pixel<uint8_t>(in, x + k % 2, y + k / 2, 0);
    }
  }
};

void linear_byte_pixels(uint8_t* out, const WarpSurface& in, const WarpStretch& at) {
  const int64_t channels = in.channels;
  for (int i = 0; i < at.count; i++) {
    const Cell x = locate(at.x[i]), y = locate(at.y[i]);
    const Weights w = weights(x.rest, y.rest);
    const Corners p(in, x.index, y.index);
    for (int64_t c = 0; c < channels; c++) {
      *out++ = blend(w, p.taps[0][c], p.taps[1][c], p.taps[2][c], p.taps[3][c]);
    }
  }
}

#ifdef __AVX2__

/// The cells of a group. With `clamp`, ends of the axis repeat for ever, and both neighbors exist.
struct Cells {
  Ints index;
  Floats rest;
};

template <bool clamp>
DALIESQUE_INLINE Cells locate_group(const float* coordinates, int32_t extent) {
  const Floats x = load_floats(coordinates) - 0.5f;
  if constexpr (clamp) {
    const Floats inside = between(x, 0, static_cast<float>(extent - 1));
    const Ints index = at_most(truncated(inside), extent - 2);
    return {index, inside - to_floats(index)};
  }
  // As far out as cells have no neighbors at all, NaN too; from here no offset overflows.
  const Floats near = between(x, -2, static_cast<float>(extent));
  const Floats whole = rounded_down(near);
  return {truncated(whole), near - whole};
}

/// Offsets and weights of a stretch of pixels, found before the first of them is loaded: no load
/// waits for the arithmetic of its own pixel.
struct Neighbors {
  alignas(64) int32_t offsets[kGroups][kGroup];
  WeightPairs weights[kGroups];
  /// Which pixels of a group lack a neighbor or lie too near to the end of the image, and which
  /// have no neighbor at all.
  uint32_t lacking[kGroups], outside[kGroups];
};

/// Loads take this many bytes, more than the pixel has.
constexpr int kLoad = 16;

template <int channels, bool clamp>
DALIESQUE_INLINE void find_neighbors(Neighbors& out, const WarpSurface& in, const WarpStretch& at) {
  const auto width = static_cast<int32_t>(in.width), height = static_cast<int32_t>(in.height);
  const auto pitch = width * channels;
  const int32_t last_load = height * pitch - pitch - kLoad;
  for (int group = 0; kGroup * group < at.count; group++) {
    const Cells x = locate_group<clamp>(at.x + kGroup * group, width);
    const Cells y = locate_group<clamp>(at.y + kGroup * group, height);
    Ints offsets = y.index * pitch + x.index * channels;
    out.weights[group] = weight_pairs(x.rest, y.rest);
    // Negative where something lacks.
    Ints lacking = last_load - offsets;
    if constexpr (!clamp) {
      lacking |= x.index | (width - 2 - x.index) | y.index | (height - 2 - y.index);
    }
    out.lacking[group] = negatives(lacking);
    out.outside[group] = 0;
    if (out.lacking[group]) {
      const Ints x_far = (x.index + 1) | (width - 1 - x.index);
      const Ints y_far = (y.index + 1) | (height - 1 - y.index);
      out.outside[group] = negatives(x_far | y_far);
      offsets = lacking < 0 ? Ints{} : offsets;
    }
    store_ints(out.offsets[group], offsets);
  }
}

/// Bytes at the offsets k, k + 4, ... of a row.
DALIESQUE_INLINE __m128i load_bytes(const uint8_t* row, int32_t offset) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(row + offset));
}

/// How to bring values of both columns next to each other, widened to 16 bits: what madd takes.
template <int channels>
DALIESQUE_INLINE __m128i pair_order() {
  constexpr char z = -1;
  return channels == 3 ? _mm_setr_epi8(0, z, 3, z, 1, z, 4, z, 2, z, 5, z, z, z, z, z)
                       : _mm_setr_epi8(0, z, 4, z, 1, z, 5, z, 2, z, 6, z, 3, z, 7, z);
}

#ifdef __AVX512VBMI__

/// Interpolates four pixels: k, k + 4, k + 8 and k + 12; gives four 32-bit values for each, in
/// units of 2^-7.
template <int channels, int k>
DALIESQUE_INLINE __m512i blend_part(const uint8_t* upper, const uint8_t* lower, const int32_t* at,
                                    const WeightPairs& w) {
  const auto load = [&](const uint8_t* row) {
    __m512i bytes = _mm512_castsi128_si512(load_bytes(row, at[k]));
    bytes = _mm512_mask_broadcast_i32x4(bytes, 0x00f0, load_bytes(row, at[k + 4]));
    bytes = _mm512_mask_broadcast_i32x4(bytes, 0x0f00, load_bytes(row, at[k + 8]));
    bytes = _mm512_mask_broadcast_i32x4(bytes, 0xf000, load_bytes(row, at[k + 12]));
    return _mm512_shuffle_epi8(bytes, _mm512_broadcast_i32x4(pair_order<channels>()));
  };
  constexpr auto own = static_cast<_MM_PERM_ENUM>(0x55 * k);
  const __m512i above = _mm512_shuffle_epi32((__m512i)w.upper, own);
  const __m512i below = _mm512_shuffle_epi32((__m512i)w.lower, own);
  const __m512i sum = _mm512_add_epi32(_mm512_madd_epi16(load(upper), above),
                                       _mm512_madd_epi16(load(lower), below));
  return _mm512_srai_epi32(sum, 7);
}

/// Interpolates a group of pixels whose neighbors are at offsets `at`.
template <int channels>
DALIESQUE_INLINE void blend_group(uint8_t* out, const uint8_t* upper, const uint8_t* lower,
                                  const int32_t* at, const WeightPairs& w) {
  const __m512i first = _mm512_packs_epi32(blend_part<channels, 0>(upper, lower, at, w),
                                           blend_part<channels, 1>(upper, lower, at, w));
  const __m512i second = _mm512_packs_epi32(blend_part<channels, 2>(upper, lower, at, w),
                                            blend_part<channels, 3>(upper, lower, at, w));
  // Multiplication by 2^8 / 2^15, rounded.
  const __m512i scale = _mm512_set1_epi16(1 << 8);
  const __m512i packed =
      _mm512_packus_epi16(_mm512_mulhrs_epi16(first, scale), _mm512_mulhrs_epi16(second, scale));
  if constexpr (channels == 4) {
    _mm512_storeu_si512(out, packed);
  } else {
    alignas(64) static constexpr uint8_t kTight[64] = {
        0,  1,  2,  4,  5,  6,  8,  9,  10, 12, 13, 14, 16, 17, 18, 20, 21, 22, 24, 25, 26, 28,
        29, 30, 32, 33, 34, 36, 37, 38, 40, 41, 42, 44, 45, 46, 48, 49, 50, 52, 53, 54, 56, 57,
        58, 60, 61, 62, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63};
    const __m512i tight = _mm512_permutexvar_epi8(_mm512_load_si512(kTight), packed);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm512_castsi512_si256(tight));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 32), _mm512_extracti32x4_epi32(tight, 2));
  }
}

/// Pixels of three bytes: a load of eight bytes has both neighbors in a row.
template <>
[[gnu::always_inline]] inline void blend_group<3>(uint8_t* out, const uint8_t* upper,
                                                  const uint8_t* lower, const int32_t* at,
                                                  const WeightPairs& w) {
  // Columns 0, 2, ... and 1, 3, ...: vectors of eight loads each.
  const __m512i offsets = _mm512_load_si512(at);
  const __m512i even = _mm512_and_si512(offsets, _mm512_set1_epi64(0xffffffff));
  const __m512i odd = _mm512_srli_epi64(offsets, 32);
  constexpr char z = -1;
  const __m512i red_green =
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, z, 3, z, 1, z, 4, z, 8, z, 11, z, 9, z, 12, z));
  // The blue ones of even columns in the lower, those of odd columns in the upper half.
  const __m512i blue =
      _mm512_broadcast_i32x4(_mm_setr_epi8(2, z, 5, z, 4, z, 7, z, 10, z, 13, z, 12, z, 15, z));
  __m512i sums[3];
  for (int row = 0; row < 2; row++) {
    const uint8_t* base = row == 0 ? upper : lower;
    const __m512i weights = (__m512i)(row == 0 ? w.upper : w.lower);
    const __m512i first = _mm512_i64gather_epi64(even, base, 1);
    const __m512i second = _mm512_i64gather_epi64(odd, base, 1);
    const __m512i both =
        _mm512_mask_blend_epi8(0x9090909090909090, first, _mm512_slli_epi64(second, 16));
    const __m512i products[3] = {_mm512_madd_epi16(_mm512_shuffle_epi8(first, red_green),
                                                   _mm512_shuffle_epi32(weights, _MM_PERM_CCAA)),
                                 _mm512_madd_epi16(_mm512_shuffle_epi8(second, red_green),
                                                   _mm512_shuffle_epi32(weights, _MM_PERM_DDBB)),
                                 _mm512_madd_epi16(_mm512_shuffle_epi8(both, blue), weights)};
    for (int k = 0; k < 3; k++) {
      sums[k] = row == 0 ? products[k] : _mm512_add_epi32(sums[k], products[k]);
    }
  }
  for (__m512i& sum : sums) sum = _mm512_srai_epi32(sum, 7);
  const __m512i scale = _mm512_set1_epi16(1 << 8);
  const __m512i packed =
      _mm512_packus_epi16(_mm512_mulhrs_epi16(_mm512_packs_epi32(sums[0], sums[1]), scale),
                          _mm512_mulhrs_epi16(_mm512_packs_epi32(sums[2], sums[2]), scale));
  alignas(64) static constexpr uint8_t kOrder[64] = {
      0,  1,  8,  4,  5,  9,  2,  3,  10, 6,  7,  11, 16, 17, 24, 20, 21, 25, 18, 19, 26, 22,
      23, 27, 32, 33, 40, 36, 37, 41, 34, 35, 42, 38, 39, 43, 48, 49, 56, 52, 53, 57, 50, 51,
      58, 54, 55, 59, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63};
  const __m512i ordered = _mm512_permutexvar_epi8(_mm512_load_si512(kOrder), packed);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm512_castsi512_si256(ordered));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 32), _mm512_extracti32x4_epi32(ordered, 2));
}

template <>
[[gnu::always_inline]] inline void blend_group<1>(uint8_t* out, const uint8_t* upper,
                                                  const uint8_t* lower, const int32_t* at,
                                                  const WeightPairs& w) {
  const __m512i offsets = _mm512_load_si512(at);
  const auto pairs = [&](const uint8_t* base) {
    const __m512i raw = _mm512_i32gather_epi32(offsets, base, 1);
    const __m128i order = _mm_setr_epi8(0, -1, 1, -1, 4, -1, 5, -1, 8, -1, 9, -1, 12, -1, 13, -1);
    return _mm512_shuffle_epi8(raw, _mm512_broadcast_i32x4(order));
  };
  const __m512i sum = _mm512_add_epi32(_mm512_madd_epi16(pairs(upper), (__m512i)w.upper),
                                       _mm512_madd_epi16(pairs(lower), (__m512i)w.lower));
  const __m512i value = _mm512_srai_epi32(_mm512_add_epi32(sum, _mm512_set1_epi32(kOne / 2)), 14);
  const __m512i positive = _mm512_max_epi32(value, _mm512_setzero_si512());
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm512_cvtusepi32_epi8(positive));
}

#else

/// Interpolates two pixels, k and k + 4; gives four 32-bit values for each, in units of 2^-7.
template <int channels, int k>
DALIESQUE_INLINE __m256i blend_part(const uint8_t* upper, const uint8_t* lower, const int32_t* at,
                                    const WeightPairs& w) {
  const auto load = [&](const uint8_t* row) {
    const __m256i bytes = _mm256_inserti128_si256(_mm256_castsi128_si256(load_bytes(row, at[k])),
                                                  load_bytes(row, at[k + 4]), 1);
    return _mm256_shuffle_epi8(bytes, _mm256_broadcastsi128_si256(pair_order<channels>()));
  };
  const __m256i above = _mm256_shuffle_epi32((__m256i)w.upper, 0x55 * k);
  const __m256i below = _mm256_shuffle_epi32((__m256i)w.lower, 0x55 * k);
  const __m256i sum = _mm256_add_epi32(_mm256_madd_epi16(load(upper), above),
                                       _mm256_madd_epi16(load(lower), below));
  return _mm256_srai_epi32(sum, 7);
}

/// Interpolates a group of pixels whose neighbors are at offsets `at`.
template <int channels>
DALIESQUE_INLINE void blend_group(uint8_t* out, const uint8_t* upper, const uint8_t* lower,
                                  const int32_t* at, const WeightPairs& w) {
  const __m256i first = _mm256_packs_epi32(blend_part<channels, 0>(upper, lower, at, w),
                                           blend_part<channels, 1>(upper, lower, at, w));
  const __m256i second = _mm256_packs_epi32(blend_part<channels, 2>(upper, lower, at, w),
                                            blend_part<channels, 3>(upper, lower, at, w));
  // Multiplication by 2^8 / 2^15, rounded.
  const __m256i scale = _mm256_set1_epi16(1 << 8);
  const __m256i packed =
      _mm256_packus_epi16(_mm256_mulhrs_epi16(first, scale), _mm256_mulhrs_epi16(second, scale));
  if constexpr (channels == 4) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), packed);
  } else {
    const __m256i tight =
        _mm256_shuffle_epi8(packed, _mm256_broadcastsi128_si256(_mm_setr_epi8(
                                        0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1)));
    const __m256i joined =
        _mm256_permutevar8x32_epi32(tight, _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_castsi256_si128(joined));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out + 16), _mm256_extracti128_si256(joined, 1));
  }
}

template <>
[[gnu::always_inline]] inline void blend_group<1>(uint8_t* out, const uint8_t* upper,
                                                  const uint8_t* lower, const int32_t* at,
                                                  const WeightPairs& w) {
  const __m256i offsets = _mm256_load_si256(reinterpret_cast<const __m256i*>(at));
  const auto pairs = [&](const uint8_t* base) {
    const __m256i raw = _mm256_i32gather_epi32(reinterpret_cast<const int*>(base), offsets, 1);
    const __m128i order = _mm_setr_epi8(0, -1, 1, -1, 4, -1, 5, -1, 8, -1, 9, -1, 12, -1, 13, -1);
    return _mm256_shuffle_epi8(raw, _mm256_broadcastsi128_si256(order));
  };
  const __m256i sum = _mm256_add_epi32(_mm256_madd_epi16(pairs(upper), (__m256i)w.upper),
                                       _mm256_madd_epi16(pairs(lower), (__m256i)w.lower));
  const __m256i value = _mm256_srai_epi32(_mm256_add_epi32(sum, _mm256_set1_epi32(kOne / 2)), 14);
  const __m128i words =
      _mm_packs_epi32(_mm256_castsi256_si128(value), _mm256_extracti128_si256(value, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(out), _mm_packus_epi16(words, words));
}

#endif

constexpr uint32_t kAll = (1u << kGroup) - 1;

/// Whether blend_group takes its offsets as a vector.
template <int channels>
constexpr bool kGathers = channels == 1 || (channels == 3 && kGroup == 16);

/// Makes the pixels of a group that blend_group could not make, those whose bits are set, again.
template <int channels>
DALIESQUE_INLINE void correct_group(uint8_t* out, const WarpSurface& in, const WarpStretch& at,
                                    uint32_t lacking, uint32_t outside) {
  if (in.border != Border::constant) outside = 0;
  if (outside == kAll) {
    std::memcpy(out, in.fill, kGroup * channels);
    return;
  }
  for (; lacking; lacking &= lacking - 1) {
    const int k = __builtin_ctz(lacking);
    if (outside >> k & 1) {
      std::memcpy(out + k * channels, in.fill, channels);
    } else {
      linear_byte_pixels(out + k * channels, in, {at.x + k, at.y + k, nullptr, 1});
    }
  }
}

/// Whether the first `columns` positions of a straight stretch have four neighbors that may be
/// loaded, judged by its ends.
DALIESQUE_INLINE bool lies_inside(const WarpSurface& in, const WarpStretch& at, int columns) {
  const auto within = [=](const float* coordinates, int64_t limit) {
    const float first = coordinates[0] - 0.5f, last = coordinates[columns - 1] - 0.5f;
    const auto high = static_cast<float>(limit);
    return first >= 0 && last >= 0 && first < high && last < high;
  };
  // Loads that begin above the last two rows do not reach behind the end of the image.
  return in.width * in.channels >= kLoad && within(at.x, in.width - 1) &&
         within(at.y, in.height - 2);
}

/// Whether none of these positions has any neighbor.
DALIESQUE_INLINE bool lies_outside(const WarpSurface& in, const WarpStretch& at, int columns) {
  const auto beyond = [=](const float* coordinates, int64_t extent) {
    const float first = coordinates[0] - 0.5f, last = coordinates[columns - 1] - 0.5f;
    const auto high = static_cast<float>(extent);
    return (first < -1 && last < -1) || (first >= high && last >= high);
  };
  return beyond(at.x, in.width) || beyond(at.y, in.height);
}

/// Interpolates a group of pixels inside of the image, which lie in cells of these columns and
/// rows.
template <int channels>
DALIESQUE_INLINE void blend_cells(uint8_t* out, const uint8_t* data, int32_t pitch, Ints column,
                                  Ints row, const WeightPairs& w) {
  alignas(64) int32_t offsets[kGroup];
  store_ints(offsets, row * pitch + column * channels);
  blend_group<channels>(out, data, data + pitch, offsets, w);
}

/// Interpolates a stretch that lies inside. Gathering loads take the offsets from the register that
/// they were computed in, so that they need not be found for the whole stretch first.
template <int channels>
DALIESQUE_INLINE void blend_inside(uint8_t* out, const WarpSurface& in, const WarpStretch& at) {
  const auto pitch = static_cast<int32_t>(in.width * channels);
  const auto* data = static_cast<const uint8_t*>(in.data);
  uint8_t rest[kGroup * channels];
  for (int first = 0; first < at.count; first += kGroup) {
    const Floats x = load_floats(at.x + first) - 0.5f, y = load_floats(at.y + first) - 0.5f;
    const Ints column = truncated(x), row = truncated(y);
    const WeightPairs w = weight_pairs(x - to_floats(column), y - to_floats(row));
    const int left = at.count - first;
    // What does not fill a group is made elsewhere.
    uint8_t* to = left >= kGroup ? out + first * channels : rest;
    blend_cells<channels>(to, data, pitch, column, row, w);
    if (left < kGroup)
      std::memcpy(out + first * channels, rest, static_cast<size_t>(left * channels));
  }
}

/// Makes a stretch, wherever it lies.
template <int channels>
static void blend_anywhere(uint8_t* out, const WarpSurface& in, const WarpStretch& at) {
  Neighbors found;
  if (in.border == Border::clamp && in.width > 1 && in.height > 1) {
    find_neighbors<channels, true>(found, in, at);
  } else {
    find_neighbors<channels, false>(found, in, at);
  }
  const auto* data = static_cast<const uint8_t*>(in.data);
  const uint8_t* below = data + in.width * channels;
  uint8_t rest[kGroup * channels];
  for (int group = 0; kGroup * group < at.count; group++) {
    const int left = at.count - kGroup * group;
    // What does not fill a group is made elsewhere.
    uint8_t* to = left >= kGroup ? out + kGroup * group * channels : rest;
    const uint32_t lacking = found.lacking[group] & (left >= kGroup ? kAll : (1u << left) - 1);
    if (lacking != kAll) {
      blend_group<channels>(to, data, below, found.offsets[group], found.weights[group]);
    }
    if (lacking) {
      const WarpStretch own{at.x + kGroup * group, at.y + kGroup * group, nullptr, kGroup};
      correct_group<channels>(to, in, own, lacking, found.outside[group]);
    }
    if (left < kGroup) {
      std::memcpy(out + kGroup * group * channels, rest, static_cast<size_t>(left * channels));
    }
  }
}

/// Makes a straight stretch of up to `columns` pixels, if all of them are inside or outside.
template <int channels>
DALIESQUE_INLINE bool blend_straight(uint8_t* out, const WarpSurface& in, const WarpStretch& at,
                                     int columns) {
  if (kGathers<channels> && lies_inside(in, at, columns)) {
    blend_inside<channels>(out, in, at);
    return true;
  }
  if (in.border == Border::constant && lies_outside(in, at, columns)) {
    std::memcpy(out, in.fill, static_cast<size_t>(at.count * channels));
    return true;
  }
  return false;
}

template <int channels>
static void blend_stretch(uint8_t* out, const WarpSurface& in, const WarpStretch& at) {
  if (!at.straight) return blend_anywhere<channels>(out, in, at);
  if (blend_straight<channels>(out, in, at, kWarpColumns)) return;
  // Only few groups contain an edge of the image.
  for (int first = 0; first < at.count; first += kGroup) {
    const int left = at.count - first;
    const WarpStretch own{at.x + first, at.y + first, nullptr, left < kGroup ? left : kGroup};
    uint8_t* to = out + first * channels;
    if (!blend_straight<channels>(to, in, own, kGroup)) blend_anywhere<channels>(to, in, own);
  }
}

#ifdef __AVX512VBMI__

/// Makes two rows of a straight tile by patches, if their pixels lie close.
template <int channels>
DALIESQUE_INLINE bool blend_close(uint8_t* out, int64_t pitch, const WarpSurface& in,
                                  const WarpCoordinates& at, int row, int columns) {
  const Strip strip(at, row);
  if (!strip.is_close<channels>()) return false;
  const auto edge = [&](uint8_t* to, int column) {
    if (in.border == Border::constant) return blend_edge<channels>(to, pitch, in, strip, column);
    // Groups are longer: what follows the last column is loaded too, but does not count.
    for (int k = row; k < row + kPatchRows; k++, to += pitch) {
      blend_anywhere<channels>(to, in,
                               {at.x[k] + column, at.y[k] + column, nullptr, kPatchColumns});
    }
  };
  // Cells are in so many rows, less one.
  const auto rows = static_cast<int>(strip.height) + 1;
  if (rows < kCovered) {
    blend_strip<channels, 1>(out, pitch, in, strip, columns, edge);
  } else if (rows < 2 * kCovered) {
    blend_strip<channels, 2>(out, pitch, in, strip, columns, edge);
  } else {
    blend_strip<channels, kMostPasses>(out, pitch, in, strip, columns, edge);
  }
  return true;
}

/// Makes a straight tile, by patches as far as pixels lie close.
template <int channels>
DALIESQUE_INLINE void blend_strips(uint8_t* out, int64_t pitch, const WarpSurface& in,
                                   const WarpCoordinates& at, const WarpPart& part) {
  const auto row_bytes = static_cast<size_t>(part.columns * channels);
  for (int r = 0; r < part.rows; r += kPatchRows, out += kPatchRows * pitch) {
    const int rows = part.rows - r < kPatchRows ? part.rows - r : kPatchRows;
    if (rows == kPatchRows && part.columns % kPatchColumns == 0) {
      if (blend_close<channels>(out, pitch, in, at, r, part.columns)) continue;
    } else {
      // What does not fill patches is made elsewhere.
      uint8_t whole[kPatchRows][kWarpColumns * channels];
      if (blend_close<channels>(whole[0], sizeof whole[0], in, at, r, part.columns)) {
        for (int k = 0; k < rows; k++) std::memcpy(out + k * pitch, whole[k], row_bytes);
        continue;
      }
    }
    for (int k = 0; k < rows; k++) {
      blend_stretch<channels>(out + k * pitch, in,
                              {at.x[r + k], at.y[r + k], nullptr, part.columns, true});
    }
  }
}

#endif

template <int channels>
static void linear_bytes_of(uint8_t* out, int64_t pitch, const WarpSurface& in,
                            const WarpCoordinates& at, const WarpPart& part) {
#ifdef __AVX512VBMI__
  if constexpr (channels != 4) {
    if (part.straight) return blend_strips<channels>(out, pitch, in, at, part);
  }
#endif
  for (int r = 0; r < part.rows; r++) {
    blend_stretch<channels>(out + r * pitch, in,
                            {at.x[r], at.y[r], nullptr, part.columns, part.straight});
  }
}

#endif

}  // namespace

void linear_bytes(uint8_t* out, int64_t out_pitch, const WarpSurface& in, const WarpCoordinates& at,
                  const WarpPart& part) {
#ifdef __AVX2__
  const int64_t pitch = in.width * in.channels;
  if (in.height * pitch < (int64_t{1} << 30) && in.height * pitch >= pitch + kLoad) {
    if (in.channels == 1) return linear_bytes_of<1>(out, out_pitch, in, at, part);
    if (in.channels == 3) return linear_bytes_of<3>(out, out_pitch, in, at, part);
    if (in.channels == 4) return linear_bytes_of<4>(out, out_pitch, in, at, part);
  }
#endif
  for (int r = 0; r < part.rows; r++) {
    linear_byte_pixels(out + r * out_pitch, in, {at.x[r], at.y[r], nullptr, part.columns});
  }
}

}  // namespace daliesque::image::DALIESQUE_ISA
