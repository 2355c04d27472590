// SPDX-License-Identifier: Apache-2.0
// The forward DCT, with the arithmetic of the accurate integer transform of the JPEG reference
// software, and quantization.
#include "jpeg/dct_vectors.simd.h"
#include "jpeg/distortion.h"

namespace daliesque::jpeg::DALIESQUE_ISA {

namespace {

/// The first pass keeps kPassBits more bits, which the second one drops; the result is 8 times that
/// of the mathematical definition.
template <bool first>
constexpr int kShift = first ? kConstBits - kPassBits : kConstBits + kPassBits;

/// In file order.
constexpr uint8_t kLast = 63;

#ifdef __AVX2__

/// One dimension of the transform, of two blocks. Samples have 8 bits, so that all sums fit 16.
template <bool first>
DALIESQUE_INLINE void transform(__m256i v[8]) {
  const __m256i s0 = _mm256_add_epi16(v[0], v[7]), d0 = _mm256_sub_epi16(v[0], v[7]);
  const __m256i s1 = _mm256_add_epi16(v[1], v[6]), d1 = _mm256_sub_epi16(v[1], v[6]);
  const __m256i s2 = _mm256_add_epi16(v[2], v[5]), d2 = _mm256_sub_epi16(v[2], v[5]);
  const __m256i s3 = _mm256_add_epi16(v[3], v[4]), d3 = _mm256_sub_epi16(v[3], v[4]);
  const __m256i e0 = _mm256_add_epi16(s0, s3), e3 = _mm256_sub_epi16(s0, s3);
  const __m256i e1 = _mm256_add_epi16(s1, s2), e2 = _mm256_sub_epi16(s1, s2);
  const auto scaled = [](__m256i sum) {
    if constexpr (first) return _mm256_slli_epi16(sum, kPassBits);
    const __m256i half = _mm256_set1_epi16(1 << (kPassBits - 1));
    return _mm256_srai_epi16(_mm256_add_epi16(sum, half), kPassBits);
  };
  v[0] = scaled(_mm256_add_epi16(e0, e1));
  v[4] = scaled(_mm256_sub_epi16(e0, e1));
  constexpr int shift = kShift<first>;
  const __m256i half = _mm256_set1_epi32(1 << (shift - 1));
  const Wide round = {half, half};
  const Wide even = interleave(e3, e2);
  v[2] = scale_down<shift>(combine(even, k0541 + k0765, k0541) + round);
  v[6] = scale_down<shift>(combine(even, k0541, k0541 - k1847) + round);
  const Wide sums = interleave(_mm256_add_epi16(d3, d1), _mm256_add_epi16(d2, d0));
  const Wide z3 = combine(sums, k1175 - k1961, k1175) + round;
  const Wide z4 = combine(sums, k1175, k1175 - k0390) + round;
  const Wide outer = interleave(d3, d0), inner = interleave(d2, d1);
  v[7] = scale_down<shift>(combine(outer, k0298 - k0899, -k0899) + z3);
  v[5] = scale_down<shift>(combine(inner, k2053 - k2562, -k2562) + z4);
  v[3] = scale_down<shift>(combine(inner, -k2562, k3072 - k2562) + z3);
  v[1] = scale_down<shift>(combine(outer, -k0899, k1501 - k0899) + z4);
}

/// A row of a table, for both blocks.
DALIESQUE_INLINE __m256i row_of(const uint16_t* table, int row) {
  return _mm256_broadcastsi128_si256(
      _mm_loadu_si128(reinterpret_cast<const __m128i*>(table + 8 * row)));
}

DALIESQUE_INLINE __m256i quantize(__m256i values, const Divisors& by, int row) {
  const __m256i sum = _mm256_add_epi16(_mm256_abs_epi16(values), row_of(by.half, row));
  const __m256i quotient = _mm256_mulhi_epu16(_mm256_mulhi_epu16(sum, row_of(by.reciprocal, row)),
                                              row_of(by.scale, row));
  return _mm256_sign_epi16(quotient, values);
}

/// Two blocks, side by side; the second is not stored if it is the first one's padding.
void transform_pair(int16_t* coefficients, uint8_t* last, const uint8_t* in, int64_t stride,
                    bool both, const Divisors& by) {
  __m256i v[8];
  for (int r = 0; r < 8; r++) {
    const auto* row = reinterpret_cast<const __m128i*>(in + r * stride);
    v[r] = _mm256_sub_epi16(_mm256_cvtepu8_epi16(_mm_loadu_si128(row)), _mm256_set1_epi16(128));
  }
  transpose<8>(v);
  transform<true>(v);
  transpose<8>(v);
  transform<false>(v);
  // In file order, the first coefficients are the first 4, 3, 2 and 1 of the first rows.
  __m256i outside = _mm256_setzero_si256(), others = _mm256_setzero_si256();
  for (int r = 0; r < 8; r++) {
    v[r] = quantize(v[r], by, r);
    const int kept = r < 4 ? 4 - r : 0;
    const __m128i column = _mm_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7);
    const auto beyond = [&](int count) {
      const __m128i mask = _mm_cmpgt_epi16(column, _mm_set1_epi16(static_cast<int16_t>(count - 1)));
      return _mm256_and_si256(v[r], _mm256_broadcastsi128_si256(mask));
    };
    outside = _mm256_or_si256(outside, beyond(kept));
    others = _mm256_or_si256(others, beyond(r == 0 ? 1 : 0));
  }
  for (int block = 0; block <= both; block++) {
    for (int r = 0; r < 8; r++) {
      const __m128i row = block ? _mm256_extracti128_si256(v[r], 1) : _mm256_castsi256_si128(v[r]);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(coefficients + 64 * block + 8 * r), row);
    }
    const auto is_zero = [&](__m256i bits) {
      const __m128i half = block ? _mm256_extracti128_si256(bits, 1) : _mm256_castsi256_si128(bits);
      return _mm_testz_si128(half, half) != 0;
    };
    last[block] = is_zero(others) ? 0 : is_zero(outside) ? kLastOf4x4 : kLast;
  }
}

#else

template <bool first>
inline void transform(int32_t v[8][8]) {
  constexpr int shift = kShift<first>;
  constexpr int32_t round = 1 << (shift - 1);
  for (int k = 0; k < 8; k++) {
    const int32_t s0 = v[0][k] + v[7][k], d0 = v[0][k] - v[7][k];
    const int32_t s1 = v[1][k] + v[6][k], d1 = v[1][k] - v[6][k];
    const int32_t s2 = v[2][k] + v[5][k], d2 = v[2][k] - v[5][k];
    const int32_t s3 = v[3][k] + v[4][k], d3 = v[3][k] - v[4][k];
    const int32_t e0 = s0 + s3, e3 = s0 - s3, e1 = s1 + s2, e2 = s1 - s2;
    if constexpr (first) {
      v[0][k] = (e0 + e1) * (1 << kPassBits);
      v[4][k] = (e0 - e1) * (1 << kPassBits);
    } else {
      v[0][k] = (e0 + e1 + (1 << (kPassBits - 1))) >> kPassBits;
      v[4][k] = (e0 - e1 + (1 << (kPassBits - 1))) >> kPassBits;
    }
    const int32_t even = (e2 + e3) * k0541;
    v[2][k] = (even + e3 * k0765 + round) >> shift;
    v[6][k] = (even - e2 * k1847 + round) >> shift;
    const int32_t z1 = (d3 + d0) * -k0899, z2 = (d2 + d1) * -k2562;
    const int32_t z5 = (d3 + d1 + d2 + d0) * k1175;
    const int32_t z3 = (d3 + d1) * -k1961 + z5, z4 = (d2 + d0) * -k0390 + z5;
    v[7][k] = (d3 * k0298 + z1 + z3 + round) >> shift;
    v[5][k] = (d2 * k2053 + z2 + z4 + round) >> shift;
    v[3][k] = (d1 * k3072 + z2 + z3 + round) >> shift;
    v[1][k] = (d0 * k1501 + z1 + z4 + round) >> shift;
  }
}

inline void transpose(int32_t to[8][8], const int32_t from[8][8]) {
  for (int r = 0; r < 8; r++) {
    for (int k = 0; k < 8; k++) to[r][k] = from[k][r];
  }
}

void transform_block(int16_t* coefficients, uint8_t* last, const uint8_t* in, int64_t stride,
                     const Divisors& by) {
  int32_t rows[8][8], columns[8][8];
  for (int r = 0; r < 8; r++) {
    for (int k = 0; k < 8; k++) rows[r][k] = in[r * stride + k] - 128;
  }
  transpose(columns, rows);
  transform<true>(columns);
  transpose(rows, columns);
  transform<false>(rows);
  const int32_t* values = rows[0];
  uint32_t others = 0;
  for (int k = 0; k < 64; k++) {
    const auto magnitude = static_cast<uint32_t>(values[k] < 0 ? -values[k] : values[k]);
    const uint32_t quotient =
        ((magnitude + by.half[k]) * by.reciprocal[k] >> 16) * by.scale[k] >> 16;
    const auto level = static_cast<int32_t>(quotient);
    coefficients[k] = static_cast<int16_t>(values[k] < 0 ? -level : level);
    others |= k ? quotient : 0;
  }
  *last = others ? kLast : 0;
}

#endif

}  // namespace

void forward_dct(int16_t* coefficients, uint8_t* last, const uint8_t* in, int64_t stride, int count,
                 const Divisors& by) {
#ifdef __AVX2__
  for (int i = 0; i < count; i += 2) {
    transform_pair(coefficients + 64 * i, last + i, in + 8 * i, stride, i + 1 < count, by);
  }
#else
  for (int i = 0; i < count; i++) {
    transform_block(coefficients + 64 * i, last + i, in + 8 * i, stride, by);
  }
#endif
}

}  // namespace daliesque::jpeg::DALIESQUE_ISA
