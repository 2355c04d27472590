// SPDX-License-Identifier: Apache-2.0
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "core/half.h"
#include "image/mix_loops.h"

namespace daliesque::image::DALIESQUE_ISA {

namespace {

void add_bytes(float* __restrict sums, const uint8_t* __restrict in, int64_t count, float weight) {
  for (int64_t k = 0; k < count; k++) sums[k] += weight * static_cast<float>(in[k]);
}

void add(float* __restrict sums, const float* __restrict in, int64_t count, float weight) {
  for (int64_t k = 0; k < count; k++) sums[k] += weight * in[k];
}

void round_to_bytes(uint8_t* __restrict out, const float* __restrict in, int64_t count) {
  for (int64_t k = 0; k < count; k++) {
    const float positive = in[k] > 0.0f ? in[k] : 0.0f;
    const float inside = positive < 255.0f ? positive : 255.0f;
    out[k] = static_cast<uint8_t>(static_cast<int32_t>(inside + 0x1.fffffep-2f));
  }
}

constexpr int kWeightBits = 14;

#ifdef __AVX2__
/// Weighted sums of pairs of 8 bytes, as 32-bit integers: `low` of 16 interleaved bytes or the
/// rest.
DALIESQUE_INLINE __m256i weigh_pairs(__m128i a, __m128i b, __m256i weights, bool low) {
  const __m128i pairs = low ? _mm_unpacklo_epi8(a, b) : _mm_unpackhi_epi8(a, b);
  return _mm256_madd_epi16(_mm256_cvtepu8_epi16(pairs), weights);
}

DALIESQUE_INLINE __m128i load_16(const uint8_t* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}

/// Rounds two times 8 sums and stores them as bytes.
DALIESQUE_INLINE void store_16(uint8_t* to, __m256i low, __m256i high) {
  const __m256i half = _mm256_set1_epi32(1 << (kWeightBits - 1));
  low = _mm256_srai_epi32(_mm256_add_epi32(low, half), kWeightBits);
  high = _mm256_srai_epi32(_mm256_add_epi32(high, half), kWeightBits);
  const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(low, high), 0xD8);
  const __m128i bytes =
      _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
}

DALIESQUE_INLINE __m256i weight_pair(const int16_t* weights) {
  const uint32_t first = static_cast<uint16_t>(weights[0]);
  const uint32_t second = static_cast<uint16_t>(weights[1]);
  return _mm256_set1_epi32(static_cast<int32_t>(first | second << 16));
}
#endif

template <int terms>
DALIESQUE_INLINE void blend_bytes(uint8_t* out, const uint8_t* const* in, int64_t first,
                                  int64_t count, const int16_t* weights) {
  for (int64_t k = first; k < count; k++) {
    int32_t sum = 1 << (kWeightBits - 1);
    for (int t = 0; t < terms; t++) sum += in[t][k] * weights[t];
    out[k] = static_cast<uint8_t>(sum >> kWeightBits);
  }
}

void blend_two(uint8_t* out, const uint8_t* const* in, int64_t count, const int16_t* weights) {
  int64_t k = 0;
#ifdef __AVX2__
  // Since the weights add up to one, a * wa + b * wb is b + (a - b) * wa; the difference is doubled
  // because the product, rounded, is shifted by 15 bits.
  const __m256i weight = _mm256_set1_epi16(weights[0]);
  const auto blend = [&](__m256i a, __m256i b) {
    const __m256i difference = _mm256_sub_epi16(a, b);
    const __m256i twice = _mm256_add_epi16(difference, difference);
    return _mm256_add_epi16(b, _mm256_mulhrs_epi16(twice, weight));
  };
  const __m256i zero = _mm256_setzero_si256();
  for (; k + 32 <= count; k += 32) {
    const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in[0] + k));
    const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in[1] + k));
    const __m256i low = blend(_mm256_unpacklo_epi8(a, zero), _mm256_unpacklo_epi8(b, zero));
    const __m256i high = blend(_mm256_unpackhi_epi8(a, zero), _mm256_unpackhi_epi8(b, zero));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + k), _mm256_packus_epi16(low, high));
  }
#endif
  blend_bytes<2>(out, in, k, count, weights);
}

void blend_four(uint8_t* out, const uint8_t* const* in, int64_t count, const int16_t* weights) {
  int64_t k = 0;
#ifdef __AVX2__
  const __m256i first = weight_pair(weights), second = weight_pair(weights + 2);
  for (; k + 16 <= count; k += 16) {
    const __m128i a = load_16(in[0] + k), b = load_16(in[1] + k);
    const __m128i c = load_16(in[2] + k), d = load_16(in[3] + k);
    const __m256i low =
        _mm256_add_epi32(weigh_pairs(a, b, first, true), weigh_pairs(c, d, second, true));
    const __m256i high =
        _mm256_add_epi32(weigh_pairs(a, b, first, false), weigh_pairs(c, d, second, false));
    store_16(out + k, low, high);
  }
#endif
  blend_bytes<4>(out, in, k, count, weights);
}

}  // namespace

const MixLoops mix_loops = {add_bytes, add, round_to_bytes, blend_two, blend_four};

}  // namespace daliesque::image::DALIESQUE_ISA
