// SPDX-License-Identifier: Apache-2.0
// Groups of coordinates and weights in vectors, for the interpolation of bytes. Only
// warp_bytes.simd.cpp may include this.
#pragma once

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "core/half.h"
#include "image/warp_loops.h"

namespace daliesque::image::DALIESQUE_ISA {

/// Weights of byte interpolation are fractions of this. The largest power of two in 16 bits.
constexpr int kOne = 1 << 14;

/// Added to a number of less than 16 bits, this leaves no bits for a fraction: the lower bits of
/// the sum are the nearest integer.
constexpr float kNoFraction = 0x1.8p23f;

#ifdef __AVX2__

#ifdef __AVX512VBMI__
constexpr int kGroup = 16;
#else
constexpr int kGroup = 8;
#endif
constexpr int kGroups = kWarpColumns / kGroup;

using Floats [[gnu::vector_size(4 * kGroup)]] = float;
using Ints [[gnu::vector_size(4 * kGroup)]] = int32_t;

#ifdef __AVX512VBMI__

DALIESQUE_INLINE Floats load_floats(const float* from) { return (Floats)_mm512_loadu_ps(from); }
DALIESQUE_INLINE void store_ints(int32_t* to, Ints v) { _mm512_store_si512(to, (__m512i)v); }
// Of NaN and a number, both min and max give the second one.
DALIESQUE_INLINE Floats between(Floats v, float low, float high) {
  const __m512 raised = _mm512_max_ps((__m512)v, _mm512_set1_ps(low));
  return (Floats)_mm512_min_ps(raised, _mm512_set1_ps(high));
}
DALIESQUE_INLINE Floats rounded_down(Floats v) {
  return (Floats)_mm512_roundscale_ps((__m512)v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}
DALIESQUE_INLINE Ints truncated(Floats v) { return (Ints)_mm512_cvttps_epi32((__m512)v); }
DALIESQUE_INLINE Floats to_floats(Ints v) { return (Floats)_mm512_cvtepi32_ps((__m512i)v); }
DALIESQUE_INLINE Ints at_most(Ints v, int32_t high) {
  return (Ints)_mm512_min_epi32((__m512i)v, _mm512_set1_epi32(high));
}
/// v * kOne, rounded, in the lower halves. The product with a power of two is exact, so that fusing
/// does not change a bit.
DALIESQUE_INLINE Ints fractions(Floats v) {
  return (Ints)_mm512_fmadd_ps((__m512)v, _mm512_set1_ps(kOne), _mm512_set1_ps(kNoFraction));
}
DALIESQUE_INLINE Ints minus_words(Ints a, Ints b) {
  return (Ints)_mm512_sub_epi16((__m512i)a, (__m512i)b);
}
/// The lower halves of the words of `low`, and as the upper ones those of `high`.
DALIESQUE_INLINE Ints word_pairs(Ints low, Ints high) {
  alignas(64) static constexpr uint16_t kOrder[32] = {0,  32, 2,  34, 4,  36, 6,  38, 8,  40, 10,
                                                      42, 12, 44, 14, 46, 16, 48, 18, 50, 20, 52,
                                                      22, 54, 24, 56, 26, 58, 28, 60, 30, 62};
  return (Ints)_mm512_permutex2var_epi16((__m512i)low, _mm512_load_si512(kOrder), (__m512i)high);
}
/// A bit for each negative number.
DALIESQUE_INLINE uint32_t negatives(Ints v) { return _mm512_movepi32_mask((__m512i)v); }

#else

DALIESQUE_INLINE Floats load_floats(const float* from) { return (Floats)_mm256_loadu_ps(from); }
DALIESQUE_INLINE void store_ints(int32_t* to, Ints v) {
  _mm256_store_si256(reinterpret_cast<__m256i*>(to), (__m256i)v);
}
// Of NaN and a number, both min and max give the second one.
DALIESQUE_INLINE Floats between(Floats v, float low, float high) {
  const __m256 raised = _mm256_max_ps((__m256)v, _mm256_set1_ps(low));
  return (Floats)_mm256_min_ps(raised, _mm256_set1_ps(high));
}
DALIESQUE_INLINE Floats rounded_down(Floats v) { return (Floats)_mm256_floor_ps((__m256)v); }
DALIESQUE_INLINE Ints truncated(Floats v) { return (Ints)_mm256_cvttps_epi32((__m256)v); }
DALIESQUE_INLINE Floats to_floats(Ints v) { return (Floats)_mm256_cvtepi32_ps((__m256i)v); }
DALIESQUE_INLINE Ints at_most(Ints v, int32_t high) {
  return (Ints)_mm256_min_epi32((__m256i)v, _mm256_set1_epi32(high));
}
/// v * kOne, rounded, in the lower halves. The product with a power of two is exact, so that fusing
/// does not change a bit.
DALIESQUE_INLINE Ints fractions(Floats v) {
  return (Ints)_mm256_fmadd_ps((__m256)v, _mm256_set1_ps(kOne), _mm256_set1_ps(kNoFraction));
}
DALIESQUE_INLINE Ints minus_words(Ints a, Ints b) {
  return (Ints)_mm256_sub_epi16((__m256i)a, (__m256i)b);
}
/// The lower halves of the words of `low`, and as the upper ones those of `high`.
DALIESQUE_INLINE Ints word_pairs(Ints low, Ints high) {
  return (Ints)_mm256_blend_epi16((__m256i)low, _mm256_slli_epi32((__m256i)high, 16), 0xaa);
}
/// A bit for each negative number.
DALIESQUE_INLINE uint32_t negatives(Ints v) {
  return static_cast<uint32_t>(_mm256_movemask_ps((__m256)v));
}

#endif

/// Sets of weights in pairs: (w00, w01) and (w10, w11).
struct WeightPairs {
  Ints upper, lower;
};

DALIESQUE_INLINE WeightPairs weight_pairs(Floats right, Floats below) {
  const Ints x = fractions(right), y = fractions(below), both = fractions(right * below);
  // Only lower halves of words count; the upper ones, which are all equal, cancel out.
  const Ints only_x = minus_words(x, both), only_y = minus_words(y, both);
  const Floats total = Floats{} + (kNoFraction + kOne);
  const Ints rest = minus_words(minus_words((Ints)total, only_x), y);
  return {word_pairs(rest, only_x), word_pairs(only_y, both)};
}

#endif

}  // namespace daliesque::image::DALIESQUE_ISA
