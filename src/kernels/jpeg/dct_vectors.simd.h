// SPDX-License-Identifier: Apache-2.0
// What both directions of the accurate integer DCT share: factors, and vectors of two blocks.
#pragma once

#include <cstdint>

#include "core/half.h"
#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace daliesque::jpeg::DALIESQUE_ISA {

/// Factors are fractions of 2^13; between both passes, values have two more bits.
constexpr int kConstBits = 13;
constexpr int kPassBits = 2;

constexpr int fix(double value) { return static_cast<int>(value * (1 << kConstBits) + 0.5); }

constexpr int k0298 = fix(0.298631336);
constexpr int k0390 = fix(0.390180644);
constexpr int k0541 = fix(0.541196100);
constexpr int k0765 = fix(0.765366865);
constexpr int k0899 = fix(0.899976223);
constexpr int k1175 = fix(1.175875602);
constexpr int k1501 = fix(1.501321110);
constexpr int k1847 = fix(1.847759065);
constexpr int k1961 = fix(1.961570560);
constexpr int k2053 = fix(2.053119869);
constexpr int k2562 = fix(2.562915447);
constexpr int k3072 = fix(3.072711026);

/// In file order, the coefficients up to this one lie in the first four rows and columns.
constexpr uint8_t kLastOf4x4 = 9;

#ifdef __AVX2__

// Two blocks at a time, one in each half of the registers. A register holds a row of each block
// before the transposition and a column after it.

DALIESQUE_INLINE __m256i pair(int even, int odd) {
  return _mm256_set1_epi32(
      static_cast<int>(static_cast<uint32_t>(odd) << 16 | (static_cast<uint32_t>(even) & 0xFFFF)));
}

/// 32-bit values of 16 positions, split as unpacking splits them.
struct Wide {
  __m256i lo, hi;
};

DALIESQUE_INLINE Wide operator+(Wide a, Wide b) {
  return {_mm256_add_epi32(a.lo, b.lo), _mm256_add_epi32(a.hi, b.hi)};
}

DALIESQUE_INLINE Wide operator-(Wide a, Wide b) {
  return {_mm256_sub_epi32(a.lo, b.lo), _mm256_sub_epi32(a.hi, b.hi)};
}

DALIESQUE_INLINE Wide interleave(__m256i a, __m256i b) {
  return {_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b)};
}

/// a * even + b * odd for interleaved a and b.
DALIESQUE_INLINE Wide combine(Wide ab, int even, int odd) {
  const __m256i factors = pair(even, odd);
  return {_mm256_madd_epi16(ab.lo, factors), _mm256_madd_epi16(ab.hi, factors)};
}

template <int kShift>
DALIESQUE_INLINE __m256i scale_down(Wide a) {
  return _mm256_packs_epi32(_mm256_srai_epi32(a.lo, kShift), _mm256_srai_epi32(a.hi, kShift));
}

/// Transposes the 8x8 values of each half; only the first kColumns results are made.
template <int kColumns>
DALIESQUE_INLINE void transpose(__m256i v[8]) {
  const __m256i a0 = _mm256_unpacklo_epi16(v[0], v[1]);
  const __m256i a1 = _mm256_unpacklo_epi16(v[2], v[3]);
  const __m256i a2 = _mm256_unpacklo_epi16(v[4], v[5]);
  const __m256i a3 = _mm256_unpacklo_epi16(v[6], v[7]);
  const __m256i b0 = _mm256_unpackhi_epi16(v[0], v[1]);
  const __m256i b1 = _mm256_unpackhi_epi16(v[2], v[3]);
  const __m256i b2 = _mm256_unpackhi_epi16(v[4], v[5]);
  const __m256i b3 = _mm256_unpackhi_epi16(v[6], v[7]);
  const __m256i c0 = _mm256_unpacklo_epi32(a0, a1);
  const __m256i c1 = _mm256_unpacklo_epi32(a2, a3);
  const __m256i c2 = _mm256_unpackhi_epi32(a0, a1);
  const __m256i c3 = _mm256_unpackhi_epi32(a2, a3);
  v[0] = _mm256_unpacklo_epi64(c0, c1);
  v[1] = _mm256_unpackhi_epi64(c0, c1);
  v[2] = _mm256_unpacklo_epi64(c2, c3);
  v[3] = _mm256_unpackhi_epi64(c2, c3);
  if constexpr (kColumns == 8) {
    const __m256i d0 = _mm256_unpacklo_epi32(b0, b1);
    const __m256i d1 = _mm256_unpacklo_epi32(b2, b3);
    const __m256i d2 = _mm256_unpackhi_epi32(b0, b1);
    const __m256i d3 = _mm256_unpackhi_epi32(b2, b3);
    v[4] = _mm256_unpacklo_epi64(d0, d1);
    v[5] = _mm256_unpackhi_epi64(d0, d1);
    v[6] = _mm256_unpacklo_epi64(d2, d3);
    v[7] = _mm256_unpackhi_epi64(d2, d3);
  }
}

#endif

}  // namespace daliesque::jpeg::DALIESQUE_ISA
