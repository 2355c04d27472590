// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "image/warp_loops.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace daliesque::image::DALIESQUE_ISA {

namespace {

/// Coordinates further out than this are moved here: the rest of the arithmetic is in 32 bits.
constexpr float kFarthest = 1e9f;

/// Weights of byte interpolation are fractions of this. The largest power of two in 16 bits.
constexpr int kOne = 1 << 14;

/// Added to a number of less than 16 bits, this leaves no bits for a fraction: the lower bits of
/// the sum are the nearest integer.
constexpr float kNoFraction = 0x1.8p23f;

/// NaN becomes a position far outside.
DALIESQUE_INLINE float within_reach(float x) {
  const float raised = x > -kFarthest ? x : -kFarthest;
  return raised < kFarthest ? raised : kFarthest;
}

DALIESQUE_INLINE int32_t floor_int(float x) {
  const auto whole = static_cast<int32_t>(x);
  return whole - (static_cast<float>(whole) > x);
}

/// The index that stands for `i` along an axis of `extent` pixels; -1 for the fill value.
DALIESQUE_INLINE int64_t wrapped_index(int64_t i, int64_t extent, Border border) {
  if (i >= 0 && i < extent) return i;
  switch (border) {
    case Border::clamp:
      return i < 0 ? 0 : extent - 1;
    case Border::wrap:
      return (i % extent + extent) % extent;
    case Border::reflect_1001: {
      const int64_t period = 2 * extent, phase = (i % period + period) % period;
      return phase < extent ? phase : period - 1 - phase;
    }
    case Border::reflect_101: {
      if (extent == 1) return 0;
      const int64_t period = 2 * extent - 2, phase = (i % period + period) % period;
      return phase < extent ? phase : period - phase;
    }
    default:
      return -1;
  }
}

template <class T>
DALIESQUE_INLINE const T* pixel(const WarpSurface& in, int64_t x, int64_t y, int64_t z) {
  const int64_t column = wrapped_index(x, in.width, in.border);
  const int64_t row = wrapped_index(y, in.height, in.border);
  const int64_t slice = wrapped_index(z, in.depth, in.border);
  if ((column | row | slice) < 0) return static_cast<const T*>(in.fill);
  return static_cast<const T*>(in.data) +
         ((slice * in.height + row) * in.width + column) * in.channels;
}

#ifdef __AVX2__

/// Transposes 8x8.
DALIESQUE_INLINE void transpose(__m256* v) {
  __m256 pairs[8], quads[8];
  for (int k = 0; k < 4; k++) {
    pairs[2 * k] = _mm256_unpacklo_ps(v[2 * k], v[2 * k + 1]);
    pairs[2 * k + 1] = _mm256_unpackhi_ps(v[2 * k], v[2 * k + 1]);
  }
  for (int k = 0; k < 2; k++) {
    for (int j = 0; j < 2; j++) {
      const __m256 low = pairs[4 * k + j], high = pairs[4 * k + 2 + j];
      quads[4 * k + 2 * j] = _mm256_shuffle_ps(low, high, 0x44);
      quads[4 * k + 2 * j + 1] = _mm256_shuffle_ps(low, high, 0xee);
    }
  }
  for (int k = 0; k < 4; k++) {
    v[k] = _mm256_permute2f128_ps(quads[k], quads[k + 4], 0x20);
    v[k + 4] = _mm256_permute2f128_ps(quads[k], quads[k + 4], 0x31);
  }
}

void affine(WarpCoordinates& at, const float* step, int dims) {
  float* const planes[3] = {at.x[0], at.y[0], at.z[0]};
  for (int d = 0; d < dims; d++) {
    const __m256 change = _mm256_set1_ps(step[d]);
    // The sums of eight rows advance together, since each waits for its last addition.
    for (int r = 0; r < kWarpRows; r += 8) {
      __m256 sum = _mm256_load_ps(at.sums[d] + r);
      for (int x = 0; x < kWarpColumns; x += 8) {
        __m256 v[8];
        for (int k = 0; k < 8; k++, sum = _mm256_add_ps(sum, change)) v[k] = sum;
        transpose(v);
        for (int k = 0; k < 8; k++) {
          _mm256_store_ps(planes[d] + (r + k) * kWarpColumns + x, v[k]);
        }
      }
      _mm256_store_ps(at.sums[d] + r, sum);
    }
  }
}

#else

void affine(WarpCoordinates& at, const float* step, int dims) {
  float* const planes[3] = {at.x[0], at.y[0], at.z[0]};
  for (int d = 0; d < dims; d++) {
    for (int r = 0; r < kWarpRows; r++) {
      float sum = at.sums[d][r];
      float* row = planes[d] + r * kWarpColumns;
      for (int x = 0; x < kWarpColumns; x++, sum += step[d]) row[x] = sum;
      at.sums[d][r] = sum;
    }
  }
}

#endif

template <int bytes>
DALIESQUE_INLINE void copy_pixel(std::byte* out, const std::byte* from, int64_t any) {
  std::memcpy(out, from, bytes ? bytes : static_cast<size_t>(any));
}

template <int bytes>
static void nearest_pixels(std::byte* out, const WarpSurface& in, const WarpStretch& at,
                           int64_t any) {
  const int64_t size = bytes ? bytes : any;
  const auto* data = static_cast<const std::byte*>(in.data);
  int32_t columns[kWarpColumns], rows[kWarpColumns];
  for (int i = 0; i < at.count; i++) columns[i] = floor_int(within_reach(at.x[i]));
  for (int i = 0; i < at.count; i++) rows[i] = floor_int(within_reach(at.y[i]));
  for (int i = 0; i < at.count; i++, out += size) {
    const int64_t x = columns[i], y = rows[i];
    const bool inside = static_cast<uint64_t>(x) < static_cast<uint64_t>(in.width) &&
                        static_cast<uint64_t>(y) < static_cast<uint64_t>(in.height);
    if (!at.z && inside) {
      copy_pixel<bytes>(out, data + (y * in.width + x) * size, any);
      continue;
    }
    const int64_t z = at.z ? floor_int(within_reach(at.z[i])) : 0;
    const int64_t column = wrapped_index(x, in.width, in.border);
    const int64_t row = wrapped_index(y, in.height, in.border);
    const int64_t slice = wrapped_index(z, in.depth, in.border);
    const auto* from = (column | row | slice) < 0
                           ? static_cast<const std::byte*>(in.fill)
                           : data + ((slice * in.height + row) * in.width + column) * size;
    copy_pixel<bytes>(out, from, any);
  }
}

void nearest(std::byte* out, const WarpSurface& in, const WarpStretch& at, int64_t pixel_bytes) {
  switch (pixel_bytes) {
    case 1:
      return nearest_pixels<1>(out, in, at, 1);
    case 3:
      return nearest_pixels<3>(out, in, at, 3);
    case 4:
      return nearest_pixels<4>(out, in, at, 4);
    case 12:
      return nearest_pixels<12>(out, in, at, 12);
    default:
      return nearest_pixels<0>(out, in, at, pixel_bytes);
  }
}

/// The left (or upper) of two neighbors and how far the coordinate lies towards the other one.
struct Cell {
  int32_t index;
  float rest;
};

/// Pixel centers lie at halves.
DALIESQUE_INLINE Cell locate(float coordinate) {
  const float x = within_reach(coordinate - 0.5f);
  const int32_t index = floor_int(x);
  return {index, x - static_cast<float>(index)};
}

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

void linear_byte_pixels(uint8_t* out, const WarpSurface& in, const WarpStretch& at, int begin,
                        int end) {
  const auto* data = static_cast<const uint8_t*>(in.data);
  const int64_t channels = in.channels, pitch = in.width * channels;
  for (int i = begin; i < end; i++) {
    const Cell x = locate(at.x[i]), y = locate(at.y[i]);
    const Weights w = weights(x.rest, y.rest);
    const uint8_t *p00, *p01, *p10, *p11;
    if (x.index >= 0 && x.index < in.width - 1 && y.index >= 0 && y.index < in.height - 1) {
      p00 = data + y.index * pitch + x.index * channels;
      p01 = p00 + channels;
      p10 = p00 + pitch;
      p11 = p10 + channels;
    } else {
      p00 = pixel<uint8_t>(in, x.index, y.index, 0);
      p01 = pixel<uint8_t>(in, x.index + 1, y.index, 0);
      p10 = pixel<uint8_t>(in, x.index, y.index + 1, 0);
      p11 = pixel<uint8_t>(in, x.index + 1, y.index + 1, 0);
    }
    for (int64_t c = 0; c < channels; c++) {
      out[i * channels + c] = blend(w, p00[c], p01[c], p10[c], p11[c]);
    }
  }
}

#ifdef __AVX2__

/// Eight cells. With `clamp`, ends of the axis repeat for ever, and both neighbors exist.
struct Cells {
  __m256i index;
  __m256 rest;
};

template <bool clamp>
DALIESQUE_INLINE Cells locate_eight(const float* coordinates, int32_t extent) {
  const __m256 x = _mm256_sub_ps(_mm256_loadu_ps(coordinates), _mm256_set1_ps(0.5f));
  // Of NaN and a number, both min and max give the second one.
  if constexpr (clamp) {
    const __m256 raised = _mm256_max_ps(x, _mm256_setzero_ps());
    const __m256 inside = _mm256_min_ps(raised, _mm256_set1_ps(static_cast<float>(extent - 1)));
    const __m256i whole = _mm256_cvttps_epi32(inside);
    const __m256i index = _mm256_min_epi32(whole, _mm256_set1_epi32(extent - 2));
    return {index, _mm256_sub_ps(inside, _mm256_cvtepi32_ps(index))};
  }
  const __m256 raised = _mm256_max_ps(x, _mm256_set1_ps(-kFarthest));
  const __m256 near = _mm256_min_ps(raised, _mm256_set1_ps(kFarthest));
  const __m256 whole = _mm256_floor_ps(near);
  return {_mm256_cvttps_epi32(whole), _mm256_sub_ps(near, whole)};
}

/// Eight sets of weights in pairs: (w00, w01) and (w10, w11).
struct WeightPairs {
  __m256i upper, lower;
};

DALIESQUE_INLINE WeightPairs weight_pairs(__m256 right, __m256 below) {
  const __m256 one = _mm256_set1_ps(kOne), magic = _mm256_set1_ps(kNoFraction);
  // The product with a power of two is exact, so that fusing does not change a bit.
  auto to_int = [&](__m256 v) { return _mm256_castps_si256(_mm256_fmadd_ps(v, one, magic)); };
  const __m256i x = to_int(right), y = to_int(below), both = to_int(_mm256_mul_ps(right, below));
  // Only lower halves of words count; the upper ones, which are all equal, cancel out.
  const __m256i only_x = _mm256_sub_epi16(x, both), only_y = _mm256_sub_epi16(y, both);
  const __m256i total = _mm256_castps_si256(_mm256_set1_ps(kNoFraction + kOne));
  const __m256i rest = _mm256_sub_epi16(total, _mm256_add_epi16(only_x, y));
  return {_mm256_or_si256(rest, _mm256_slli_epi32(only_x, 16)),
          _mm256_or_si256(only_y, _mm256_slli_epi32(both, 16))};
}

/// Sixteen bytes of a row at each of two offsets.
DALIESQUE_INLINE __m256i load_two(const uint8_t* row, int64_t first, int64_t second) {
  const auto load = [&](int64_t at) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(row + at));
  };
  return _mm256_inserti128_si256(_mm256_castsi128_si256(load(first)), load(second), 1);
}

/// Interpolates two pixels of `channels` bytes, pixel k of the lower and of the upper four weights;
/// gives four 32-bit values for each, in units of 2^-7.
template <int channels, int k>
DALIESQUE_INLINE __m256i blend_two(const uint8_t* upper, const uint8_t* lower, const int32_t* at,
                                   const WeightPairs& w) {
  constexpr char z = -1;
  // Values of both columns next to each other, widened to 16 bits: what madd takes.
  const __m256i order = channels == 3
                            ? _mm256_setr_epi8(0, z, 3, z, 1, z, 4, z, 2, z, 5, z, z, z, z, z, 0, z,
                                               3, z, 1, z, 4, z, 2, z, 5, z, z, z, z, z)
                            : _mm256_setr_epi8(0, z, 4, z, 1, z, 5, z, 2, z, 6, z, 3, z, 7, z, 0, z,
                                               4, z, 1, z, 5, z, 2, z, 6, z, 3, z, 7, z);
  const __m256i above = _mm256_shuffle_epi8(load_two(upper, at[k], at[k + 4]), order);
  const __m256i below = _mm256_shuffle_epi8(load_two(lower, at[k], at[k + 4]), order);
  const __m256i sum =
      _mm256_add_epi32(_mm256_madd_epi16(above, _mm256_shuffle_epi32(w.upper, 0x55 * k)),
                       _mm256_madd_epi16(below, _mm256_shuffle_epi32(w.lower, 0x55 * k)));
  return _mm256_srai_epi32(sum, 7);
}

/// Interpolates eight pixels whose neighbors all exist, at offsets `at`.
template <int channels>
DALIESQUE_INLINE void blend_eight(uint8_t* out, const uint8_t* upper, const uint8_t* lower,
                                  const int32_t* at, const WeightPairs& w) {
  const __m256i first = _mm256_packs_epi32(blend_two<channels, 0>(upper, lower, at, w),
                                           blend_two<channels, 1>(upper, lower, at, w));
  const __m256i second = _mm256_packs_epi32(blend_two<channels, 2>(upper, lower, at, w),
                                            blend_two<channels, 3>(upper, lower, at, w));
  // Multiplication by 2^8 / 2^15, rounded.
  const __m256i scale = _mm256_set1_epi16(1 << 8);
  const __m256i packed =
      _mm256_packus_epi16(_mm256_mulhrs_epi16(first, scale), _mm256_mulhrs_epi16(second, scale));
  if constexpr (channels == 4) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), packed);
  } else {
    const __m256i tight = _mm256_shuffle_epi8(
        packed, _mm256_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1, 0, 1, 2, 4,
                                 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
    const __m256i joined =
        _mm256_permutevar8x32_epi32(tight, _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_castsi256_si128(joined));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out + 16), _mm256_extracti128_si256(joined, 1));
  }
}

template <>
[[gnu::always_inline]] inline void blend_eight<1>(uint8_t* out, const uint8_t* upper,
                                                  const uint8_t* lower, const int32_t* at,
                                                  const WeightPairs& w) {
  const __m256i offsets = _mm256_load_si256(reinterpret_cast<const __m256i*>(at));
  auto pairs = [&](const uint8_t* base) {
    const __m256i raw = _mm256_i32gather_epi32(reinterpret_cast<const int*>(base), offsets, 1);
    const __m256i order =
        _mm256_setr_epi8(0, -1, 1, -1, 4, -1, 5, -1, 8, -1, 9, -1, 12, -1, 13, -1, 0, -1, 1, -1, 4,
                         -1, 5, -1, 8, -1, 9, -1, 12, -1, 13, -1);
    return _mm256_shuffle_epi8(raw, order);
  };
  const __m256i sum = _mm256_add_epi32(_mm256_madd_epi16(pairs(upper), w.upper),
                                       _mm256_madd_epi16(pairs(lower), w.lower));
  const __m256i value = _mm256_srai_epi32(_mm256_add_epi32(sum, _mm256_set1_epi32(kOne / 2)), 14);
  const __m128i words =
      _mm_packs_epi32(_mm256_castsi256_si128(value), _mm256_extracti128_si256(value, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(out), _mm_packus_epi16(words, words));
}

/// All lanes with 0 <= index < extent - 1: both neighbors exist.
DALIESQUE_INLINE __m256i both_inside(__m256i index, int32_t extent) {
  return _mm256_and_si256(_mm256_cmpgt_epi32(index, _mm256_set1_epi32(-1)),
                          _mm256_cmpgt_epi32(_mm256_set1_epi32(extent - 1), index));
}

/// All lanes with index < -1 or index >= extent: no neighbor exists.
DALIESQUE_INLINE __m256i both_outside(__m256i index, int32_t extent) {
  return _mm256_or_si256(_mm256_cmpgt_epi32(_mm256_set1_epi32(-1), index),
                         _mm256_cmpgt_epi32(index, _mm256_set1_epi32(extent - 1)));
}

/// Where the eight pixels of a group begin; the last group may overlap the one before it.
DALIESQUE_INLINE int group_begin(int group, int count) {
  return 8 * group + 8 <= count ? 8 * group : count - 8;
}

/// What is known about the positions of eight pixels.
enum class Eight : uint8_t { inside, outside, mixed };

/// Offsets and weights of a stretch of pixels, found before the first of them is loaded: no load
/// waits for the arithmetic of its own pixel.
struct Neighbors {
  alignas(32) int32_t offsets[kWarpColumns / 8][8];
  __m256i upper[kWarpColumns / 8], lower[kWarpColumns / 8];
  Eight states[kWarpColumns / 8];
};

template <int channels, bool clamp>
DALIESQUE_INLINE void find_neighbors(Neighbors& out, const WarpSurface& in, const WarpStretch& at) {
  const auto width = static_cast<int32_t>(in.width), height = static_cast<int32_t>(in.height);
  const auto pitch = width * channels;
  // Loads take a few bytes more than the pixel has; the last ones of the image take another way.
  const int32_t last_load = height * pitch - pitch - 16;
  for (int group = 0; 8 * group < at.count; group++) {
    const int i = group_begin(group, at.count);
    const Cells x = locate_eight<clamp>(at.x + i, width), y = locate_eight<clamp>(at.y + i, height);
    const __m256i offsets =
        _mm256_add_epi32(_mm256_mullo_epi32(y.index, _mm256_set1_epi32(pitch)),
                         _mm256_mullo_epi32(x.index, _mm256_set1_epi32(channels)));
    const WeightPairs w = weight_pairs(x.rest, y.rest);
    _mm256_store_si256(reinterpret_cast<__m256i*>(out.offsets[group]), offsets);
    out.upper[group] = w.upper;
    out.lower[group] = w.lower;
    __m256i fast = _mm256_cmpgt_epi32(_mm256_set1_epi32(last_load + 1), offsets);
    if constexpr (!clamp) {
      const __m256i inside =
          _mm256_and_si256(both_inside(x.index, width), both_inside(y.index, height));
      fast = _mm256_and_si256(fast, inside);
    }
    Eight state = Eight::inside;
    if (_mm256_movemask_epi8(fast) != -1) {
      const __m256i outside =
          _mm256_or_si256(both_outside(x.index, width), both_outside(y.index, height));
      state = _mm256_movemask_epi8(outside) == -1 ? Eight::outside : Eight::mixed;
    }
    out.states[group] = state;
  }
}

template <int channels>
static void linear_bytes_of(uint8_t* out, const WarpSurface& in, const WarpStretch& at) {
  Neighbors found;
  if (in.border == Border::clamp && in.width > 1 && in.height > 1) {
    find_neighbors<channels, true>(found, in, at);
  } else {
    find_neighbors<channels, false>(found, in, at);
  }
  const auto* data = static_cast<const uint8_t*>(in.data);
  const uint8_t* below = data + in.width * channels;
  for (int group = 0; 8 * group < at.count; group++) {
    const int i = group_begin(group, at.count);
    const Eight state = found.states[group];
    if (state == Eight::inside) {
      const WeightPairs w{found.upper[group], found.lower[group]};
      blend_eight<channels>(out + i * channels, data, below, found.offsets[group], w);
    } else if (state == Eight::outside && in.border == Border::constant) {
      for (int k = 0; k < 8; k++) std::memcpy(out + (i + k) * channels, in.fill, channels);
    } else {
      linear_byte_pixels(out, in, at, i, i + 8);
    }
  }
}

void linear_bytes(uint8_t* out, const WarpSurface& in, const WarpStretch& at) {
  const bool fits = in.width * in.height * in.channels < (int64_t{1} << 31) && at.count >= 8;
  if (fits && in.channels == 1) return linear_bytes_of<1>(out, in, at);
  if (fits && in.channels == 3) return linear_bytes_of<3>(out, in, at);
  if (fits && in.channels == 4) return linear_bytes_of<4>(out, in, at);
  linear_byte_pixels(out, in, at, 0, at.count);
}

#else

void linear_bytes(uint8_t* out, const WarpSurface& in, const WarpStretch& at) {
  linear_byte_pixels(out, in, at, 0, at.count);
}

#endif

template <class T>
static void linear_2d(float* out, const WarpSurface& in, const WarpStretch& at) {
  const auto* data = static_cast<const T*>(in.data);
  const int64_t channels = in.channels, pitch = in.width * channels;
  for (int i = 0; i < at.count; i++, out += channels) {
    const Cell x = locate(at.x[i]), y = locate(at.y[i]);
    const float right = x.rest, left = 1 - right, below = y.rest;
    const T *p00, *p01, *p10, *p11;
    if (x.index >= 0 && x.index < in.width - 1 && y.index >= 0 && y.index < in.height - 1) {
      p00 = data + y.index * pitch + x.index * channels;
      p01 = p00 + channels;
      p10 = p00 + pitch;
      p11 = p10 + channels;
    } else {
      p00 = pixel<T>(in, x.index, y.index, 0);
      p01 = pixel<T>(in, x.index + 1, y.index, 0);
      p10 = pixel<T>(in, x.index, y.index + 1, 0);
      p11 = pixel<T>(in, x.index + 1, y.index + 1, 0);
    }
    for (int64_t c = 0; c < channels; c++) {
      const float upper = static_cast<float>(p00[c]) * left + static_cast<float>(p01[c]) * right;
      const float lower = static_cast<float>(p10[c]) * left + static_cast<float>(p11[c]) * right;
      out[c] = upper + (lower - upper) * below;
    }
  }
}

template <class T>
static void linear_3d(float* out, const WarpSurface& in, const WarpStretch& at) {
  const int64_t channels = in.channels;
  for (int i = 0; i < at.count; i++, out += channels) {
    const Cell x = locate(at.x[i]), y = locate(at.y[i]), z = locate(at.z[i]);
    const float right = x.rest, left = 1 - right, below = y.rest, above = 1 - below;
    const T* corners[2][2][2];
    for (int k = 0; k < 8; k++) {
      corners[k >> 2][k >> 1 & 1][k & 1] =
          pixel<T>(in, x.index + (k & 1), y.index + (k >> 1 & 1), z.index + (k >> 2));
    }
    for (int64_t c = 0; c < channels; c++) {
      float slices[2];
      for (int k = 0; k < 2; k++) {
        const auto& p = corners[k];
        const float upper =
            static_cast<float>(p[0][0][c]) * left + static_cast<float>(p[0][1][c]) * right;
        const float lower =
            static_cast<float>(p[1][0][c]) * left + static_cast<float>(p[1][1][c]) * right;
        slices[k] = upper * above + lower * below;
      }
      out[c] = slices[0] + (slices[1] - slices[0]) * z.rest;
    }
  }
}

template <class T>
static void linear_any(float* out, const WarpSurface& in, const WarpStretch& at) {
  if (at.z) {
    linear_3d<T>(out, in, at);
  } else {
    linear_2d<T>(out, in, at);
  }
}

/// Keys' cubic with a = -0.75, the coefficient of OpenCV.
DALIESQUE_INLINE void cubic_weights(float x, float* w) {
  constexpr float a = -0.75f;
  w[0] = ((a * (x + 1) - 5 * a) * (x + 1) + 8 * a) * (x + 1) - 4 * a;
  w[1] = ((a + 2) * x - (a + 3)) * x * x + 1;
  w[2] = ((a + 2) * (1 - x) - (a + 3)) * (1 - x) * (1 - x) + 1;
  w[3] = 1.f - w[0] - w[1] - w[2];
}

template <class T>
static void cubic_2d(float* out, const WarpSurface& in, const WarpStretch& at) {
  const int64_t channels = in.channels;
  for (int i = 0; i < at.count; i++, out += channels) {
    const Cell x = locate(at.x[i]), y = locate(at.y[i]);
    float across[4], down[4];
    cubic_weights(x.rest, across);
    cubic_weights(y.rest, down);
    for (int64_t c = 0; c < channels; c++) out[c] = 0;
    for (int r = 0; r < 4; r++) {
      for (int k = 0; k < 4; k++) {
        const T* from = pixel<T>(in, x.index + k - 1, y.index + r - 1, 0);
        const float weight = down[r] * across[k];
        for (int64_t c = 0; c < channels; c++) out[c] += static_cast<float>(from[c]) * weight;
      }
    }
  }
}

template <class... Ts>
DALIESQUE_INLINE WarpLoop linear_for(Types<Ts...>, DType type) {
  WarpLoop found = nullptr;
  ((dtype_of<Ts> == type ? (found = &linear_any<Ts>, true) : false) || ...);
  return found;
}

template <class... Ts>
DALIESQUE_INLINE WarpLoop cubic_for(Types<Ts...>, DType type) {
  WarpLoop found = nullptr;
  ((dtype_of<Ts> == type ? (found = &cubic_2d<Ts>, true) : false) || ...);
  return found;
}

WarpLoop linear(DType type) { return linear_for(NumericTypes{}, type); }
WarpLoop cubic(DType type) { return cubic_for(NumericTypes{}, type); }

}  // namespace

const WarpLoops warp_loops = {affine, nearest, linear_bytes, linear, cubic};

}  // namespace daliesque::image::DALIESQUE_ISA
