// SPDX-License-Identifier: Apache-2.0
// The inverse DCT of Loeffler, Ligtenberg and Moschytz in 13-bit fixed point: columns first, kept
// at two extra bits, then rows. Every intermediate has the width and the rounding of
// libjpeg-turbo's vector code for the accurate integer DCT, so that even coefficients that overflow
// give its results.
#include <cstring>

#include "jpeg/dct_vectors.simd.h"
#include "jpeg/decoder_loops.h"
#include "jpeg/header.h"

namespace daliesque::jpeg::DALIESQUE_ISA {
namespace {

constexpr int kShift1 = kConstBits - kPassBits;
constexpr int kShift2 = kConstBits + kPassBits + 3;

/// Sample of a block that has only a DC coefficient.
inline int flat_sample(int16_t dc, uint16_t quant) {
  const auto scaled = static_cast<int16_t>(static_cast<int16_t>(dc * quant) * (1 << kPassBits));
  const int value = ((scaled + (1 << (kPassBits + 2))) >> (kPassBits + 3)) + 128;
  return value < 0 ? 0 : value > 255 ? 255 : value;
}

#ifdef __AVX2__

/// a * 2^13, plus half a unit of the final shift.
template <int kShift>
inline Wide scale_up(__m256i a) {
  const Wide high = interleave(_mm256_setzero_si256(), a);
  const __m256i half = _mm256_set1_epi32(1 << (kShift - 1));
  return {_mm256_add_epi32(_mm256_srai_epi32(high.lo, 16 - kConstBits), half),
          _mm256_add_epi32(_mm256_srai_epi32(high.hi, 16 - kConstBits), half)};
}

/// One pass over the registers; those from kInputs on are zero.
template <int kShift, int kInputs>
[[gnu::always_inline]] inline void transform(__m256i v[8]) {
  Wide even0, even1, even2, even3, odd0, odd1, odd2, odd3;
  if constexpr (kInputs == 8) {
    const Wide in26 = interleave(v[2], v[6]);
    even3 = combine(in26, k0541 + k0765, k0541);
    even2 = combine(in26, k0541, k0541 - k1847);
    even0 = scale_up<kShift>(_mm256_add_epi16(v[0], v[4]));
    even1 = scale_up<kShift>(_mm256_sub_epi16(v[0], v[4]));
    const Wide sums = interleave(_mm256_add_epi16(v[3], v[7]), _mm256_add_epi16(v[1], v[5]));
    const Wide z3 = combine(sums, k1175 - k1961, k1175);
    const Wide z4 = combine(sums, k1175, k1175 - k0390);
    const Wide in71 = interleave(v[7], v[1]);
    odd0 = combine(in71, k0298 - k0899, -k0899) + z3;
    odd3 = combine(in71, -k0899, k1501 - k0899) + z4;
    const Wide in53 = interleave(v[5], v[3]);
    odd1 = combine(in53, k2053 - k2562, -k2562) + z4;
    odd2 = combine(in53, -k2562, k3072 - k2562) + z3;
  } else {
    const Wide in20 = interleave(v[2], _mm256_setzero_si256());
    even3 = combine(in20, k0541 + k0765, 0);
    even2 = combine(in20, k0541, 0);
    even0 = scale_up<kShift>(v[0]);
    even1 = even0;
    const Wide in31 = interleave(v[3], v[1]);
    odd0 = combine(in31, k1175 - k1961, k1175 - k0899);
    odd1 = combine(in31, k1175 - k2562, k1175 - k0390);
    odd2 = combine(in31, k1175 - k1961 + k3072 - k2562, k1175);
    odd3 = combine(in31, k1175, k1175 - k0390 + k1501 - k0899);
  }
  const Wide sum0 = even0 + even3;
  const Wide sum3 = even0 - even3;
  const Wide sum1 = even1 + even2;
  const Wide sum2 = even1 - even2;
  v[0] = scale_down<kShift>(sum0 + odd3);
  v[7] = scale_down<kShift>(sum0 - odd3);
  v[1] = scale_down<kShift>(sum1 + odd2);
  v[6] = scale_down<kShift>(sum1 - odd2);
  v[2] = scale_down<kShift>(sum2 + odd1);
  v[5] = scale_down<kShift>(sum2 - odd1);
  v[3] = scale_down<kShift>(sum3 + odd0);
  v[4] = scale_down<kShift>(sum3 - odd0);
}

/// Converts columns of values around zero to rows of samples: rows 2i and 2i + 1 of both blocks
/// in out[i].
[[gnu::always_inline]] inline void to_rows(__m256i out[4], const __m256i v[8]) {
  const __m256i p0 = _mm256_packs_epi16(v[0], v[2]);
  const __m256i p1 = _mm256_packs_epi16(v[1], v[3]);
  const __m256i p2 = _mm256_packs_epi16(v[4], v[6]);
  const __m256i p3 = _mm256_packs_epi16(v[5], v[7]);
  const __m256i q0 = _mm256_unpacklo_epi8(p0, p1);
  const __m256i q1 = _mm256_unpackhi_epi8(p0, p1);
  const __m256i q2 = _mm256_unpacklo_epi8(p2, p3);
  const __m256i q3 = _mm256_unpackhi_epi8(p2, p3);
  const __m256i r0 = _mm256_unpacklo_epi16(q0, q1);
  const __m256i r1 = _mm256_unpackhi_epi16(q0, q1);
  const __m256i r2 = _mm256_unpacklo_epi16(q2, q3);
  const __m256i r3 = _mm256_unpackhi_epi16(q2, q3);
  const __m256i center = _mm256_set1_epi8(-128);
  out[0] = _mm256_add_epi8(_mm256_unpacklo_epi32(r0, r2), center);
  out[1] = _mm256_add_epi8(_mm256_unpackhi_epi32(r0, r2), center);
  out[2] = _mm256_add_epi8(_mm256_unpacklo_epi32(r1, r3), center);
  out[3] = _mm256_add_epi8(_mm256_unpackhi_epi32(r1, r3), center);
}

/// In a block with nothing below its first row, the first pass is a mere shift, which wraps where
/// the general way saturates. `first_row` is the shifted row, `v` the result of the general way.
[[gnu::noinline]] void wrap_flat_columns(__m256i v[8], __m256i first_row, const int16_t* first,
                                         const int16_t* second) {
  bool flat[2] = {true, true};
  for (int i = 8; i < kBlockSize; ++i) {
    flat[0] &= first[i] == 0;
    flat[1] &= second[i] == 0;
  }
  const __m256i mask =
      _mm256_set_m128i(_mm_set1_epi8(flat[1] ? -1 : 0), _mm_set1_epi8(flat[0] ? -1 : 0));
  for (int i = 0; i < 8; ++i) v[i] = _mm256_blendv_epi8(v[i], first_row, mask);
}

/// The samples of two blocks; both have coefficients in the first kInputs rows and columns only.
template <int kInputs>
[[gnu::always_inline]] inline void two_blocks(__m256i rows[4], const int16_t* first,
                                              const int16_t* second, const uint16_t* quant) {
  __m256i v[8];
  for (int i = 0; i < kInputs; ++i) {
    const __m128i a = _mm_load_si128(reinterpret_cast<const __m128i*>(first + 8 * i));
    const __m128i b = _mm_load_si128(reinterpret_cast<const __m128i*>(second + 8 * i));
    const __m128i q = _mm_load_si128(reinterpret_cast<const __m128i*>(quant + 8 * i));
    v[i] = _mm256_mullo_epi16(_mm256_set_m128i(b, a), _mm256_broadcastsi128_si256(q));
  }
  const __m256i first_row = _mm256_slli_epi16(v[0], kPassBits);
  const __m256i fits = _mm256_cmpeq_epi16(_mm256_srai_epi16(first_row, kPassBits), v[0]);
  transform<kShift1, kInputs>(v);
  if (__builtin_expect(_mm256_movemask_epi8(fits) != -1, 0)) {
    __m256i copy[8];
    for (int i = 0; i < 8; ++i) copy[i] = v[i];
    wrap_flat_columns(copy, first_row, first, second);
    for (int i = 0; i < 8; ++i) v[i] = copy[i];
  }
  transpose<kInputs>(v);
  transform<kShift2, kInputs>(v);
  to_rows(rows, v);
}

inline void store_pair(uint8_t* out, ptrdiff_t stride, const __m256i rows[4]) {
  for (int i = 0; i < 4; ++i) {
    const __m256i both = _mm256_permute4x64_epi64(rows[i], 0xD8);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_castsi256_si128(both));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + stride), _mm256_extracti128_si256(both, 1));
    out += 2 * stride;
  }
}

inline void store_flat_pair(uint8_t* out, ptrdiff_t stride, int first, int second) {
  const __m128i row = _mm_unpacklo_epi64(_mm_set1_epi8(static_cast<char>(first)),
                                         _mm_set1_epi8(static_cast<char>(second)));
  for (int i = 0; i < 8; ++i) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i * stride), row);
  }
}

#else

inline int16_t saturate16(int32_t value) {
  return static_cast<int16_t>(value < -32768 ? -32768 : value > 32767 ? 32767 : value);
}

/// One pass over the rows of a block, lane by lane, for the compiler to vectorize.
template <int kShift>
[[gnu::always_inline]] inline void transform(int16_t* v) {
  constexpr int32_t kHalf = 1 << (kShift - 1);
  for (int i = 0; i < 8; ++i) {
    const int16_t in1 = v[8 + i], in2 = v[16 + i], in3 = v[24 + i];
    const int16_t in5 = v[40 + i], in6 = v[48 + i], in7 = v[56 + i];
    const auto sum04 = static_cast<int16_t>(v[i] + v[32 + i]);
    const auto difference04 = static_cast<int16_t>(v[i] - v[32 + i]);
    const int32_t even3 = in2 * (k0541 + k0765) + in6 * k0541;
    const int32_t even2 = in2 * k0541 + in6 * (k0541 - k1847);
    const int32_t even0 = sum04 * (1 << kConstBits) + kHalf;
    const int32_t even1 = difference04 * (1 << kConstBits) + kHalf;
    const auto sum37 = static_cast<int16_t>(in3 + in7);
    const auto sum15 = static_cast<int16_t>(in1 + in5);
    const int32_t z3 = sum37 * (k1175 - k1961) + sum15 * k1175;
    const int32_t z4 = sum37 * k1175 + sum15 * (k1175 - k0390);
    const int32_t odd0 = in7 * (k0298 - k0899) - in1 * k0899 + z3;
    const int32_t odd1 = in5 * (k2053 - k2562) - in3 * k2562 + z4;
    const int32_t odd2 = in3 * (k3072 - k2562) - in5 * k2562 + z3;
    const int32_t odd3 = in1 * (k1501 - k0899) - in7 * k0899 + z4;
    v[i] = saturate16((even0 + even3 + odd3) >> kShift);
    v[56 + i] = saturate16((even0 + even3 - odd3) >> kShift);
    v[8 + i] = saturate16((even1 + even2 + odd2) >> kShift);
    v[48 + i] = saturate16((even1 + even2 - odd2) >> kShift);
    v[16 + i] = saturate16((even1 - even2 + odd1) >> kShift);
    v[40 + i] = saturate16((even1 - even2 - odd1) >> kShift);
    v[24 + i] = saturate16((even0 - even3 + odd0) >> kShift);
    v[32 + i] = saturate16((even0 - even3 - odd0) >> kShift);
  }
}

#if defined(__has_builtin) && __has_builtin(__builtin_shufflevector)

using Row = int16_t __attribute__((vector_size(16)));

void transpose(int16_t* out, const int16_t* in) {
  Row v[8];
  Row w[8];
  std::memcpy(v, in, sizeof v);
  for (int i = 0; i < 4; ++i) {
    w[2 * i] = __builtin_shufflevector(v[2 * i], v[2 * i + 1], 0, 8, 1, 9, 2, 10, 3, 11);
    w[2 * i + 1] = __builtin_shufflevector(v[2 * i], v[2 * i + 1], 4, 12, 5, 13, 6, 14, 7, 15);
  }
  // Now w[i] and w[i + 2] hold the same columns of neighboring pairs of rows.
  for (int i = 0; i < 2; ++i) {
    for (int k = 0; k < 2; ++k) {
      const Row upper = w[4 * i + k];
      const Row lower = w[4 * i + k + 2];
      v[4 * i + 2 * k] = __builtin_shufflevector(upper, lower, 0, 1, 8, 9, 2, 3, 10, 11);
      v[4 * i + 2 * k + 1] = __builtin_shufflevector(upper, lower, 4, 5, 12, 13, 6, 7, 14, 15);
    }
  }
  for (int i = 0; i < 4; ++i) {
    w[2 * i] = __builtin_shufflevector(v[i], v[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    w[2 * i + 1] = __builtin_shufflevector(v[i], v[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
  std::memcpy(out, w, sizeof w);
}

#else

void transpose(int16_t* out, const int16_t* in) {
  for (int row = 0; row < 8; ++row) {
    for (int column = 0; column < 8; ++column) out[8 * column + row] = in[8 * row + column];
  }
}

#endif

void one_block(uint8_t* out, ptrdiff_t stride, const int16_t* coefficients, const uint16_t* quant) {
  alignas(16) int16_t rows[kBlockSize];
  alignas(16) int16_t columns[kBlockSize];
  int16_t below_first = 0;
  for (int i = 8; i < kBlockSize; ++i) below_first |= coefficients[i];
  for (int i = 0; i < kBlockSize; ++i) {
    rows[i] = static_cast<int16_t>(coefficients[i] * quant[i]);
  }
  if (below_first != 0) {
    transform<kShift1>(rows);
  } else {
    // The first pass is a mere shift, which wraps where the general way saturates.
    for (int i = 0; i < 8; ++i) rows[i] = static_cast<int16_t>(rows[i] * (1 << kPassBits));
    for (int i = 8; i < kBlockSize; ++i) rows[i] = rows[i - 8];
  }
  transpose(columns, rows);
  transform<kShift2>(columns);
  transpose(rows, columns);
  for (int row = 0; row < 8; ++row) {
    for (int column = 0; column < 8; ++column) {
      const int value = rows[8 * row + column] + 128;
      out[column] = static_cast<uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
    }
    out += stride;
  }
}

#endif

}  // namespace

void inverse_dct(uint8_t* out, ptrdiff_t stride, const int16_t* coefficients, const uint8_t* last,
                 int count, const uint16_t* quant) {
#ifdef __AVX2__
  // An odd block is transformed together with itself.
  for (int i = 0; i < count; i += 2) {
    const int partner = i + 1 < count ? i + 1 : i;
    const int16_t* const first = coefficients + static_cast<ptrdiff_t>(i) * kBlockSize;
    const int16_t* const second = coefficients + static_cast<ptrdiff_t>(partner) * kBlockSize;
    const int extent = last[i] > last[partner] ? last[i] : last[partner];
    if (extent == 0) {
      store_flat_pair(out, stride, flat_sample(*first, *quant), flat_sample(*second, *quant));
    } else {
      __m256i rows[4];
      if (extent <= kLastOf4x4) {
        two_blocks<4>(rows, first, second, quant);
      } else {
        two_blocks<8>(rows, first, second, quant);
      }
      store_pair(out, stride, rows);
    }
    out += 16;
  }
#else
  for (int i = 0; i < count; ++i) {
    const int16_t* const block = coefficients + static_cast<ptrdiff_t>(i) * kBlockSize;
    if (last[i] == 0) {
      const int sample = flat_sample(*block, *quant);
      for (int row = 0; row < 8; ++row) std::memset(out + row * stride, sample, 8);
    } else {
      one_block(out, stride, block, quant);
    }
    out += 8;
  }
#endif
}

}  // namespace daliesque::jpeg::DALIESQUE_ISA
