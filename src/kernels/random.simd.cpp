// SPDX-License-Identifier: Apache-2.0
#include "random.simd.h"

#include <math.h>

#include "saturate.h"
#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace daliesque::DALIESQUE_ISA {

namespace {

void words_one_by_one(uint32_t* out, const PhiloxState& sample, int64_t first, int64_t count,
                      int words) {
  for (int64_t i = 0; i < count; i++) {
    Philox rng(element_state(sample, first + i));
    for (int w = 0; w < words; w++) out[w * kPhiloxTile + i] = rng();
  }
}

#ifdef __AVX2__

/// Four blocks at once: word w of each block in the low halves of the four lanes of x[w]. The high
/// halves hold leftovers that no multiplication reads.
struct FourBlocks {
  __m256i x[4];
};

DALIESQUE_INLINE void run_round(FourBlocks& blocks, __m256i key0, __m256i key1) {
  __m256i* x = blocks.x;
  const __m256i even = _mm256_mul_epu32(x[0], _mm256_set1_epi64x(0xD2511F53u));
  const __m256i odd = _mm256_mul_epu32(x[2], _mm256_set1_epi64x(0xCD9E8D57u));
  x[0] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(odd, 32), x[1]), key0);
  x[1] = odd;
  x[2] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(even, 32), x[3]), key1);
  x[3] = even;
}

/// Ten rounds on two sets of counters, interleaved to hide the latency of the multiplications.
DALIESQUE_INLINE void run_rounds(FourBlocks& a, FourBlocks& b, uint64_t key) {
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; round++) {
    const __m256i key0 = _mm256_set1_epi64x(k0), key1 = _mm256_set1_epi64x(k1);
    run_round(a, key0, key1);
    run_round(b, key0, key1);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
}

/// Elements are 257 words apart: 64 blocks and one word. So every four elements start 257 blocks
/// after the previous four, with the same phases.
class ElementBlocks {
 public:
  explicit ElementBlocks(const PhiloxState& start)
      : key_(start.key), low_(start.counter_low), high_(start.counter_high) {
    const __m256i lane = _mm256_setr_epi64x(0, 1, 2, 3);
    const __m256i word = _mm256_add_epi64(_mm256_set1_epi64x(start.phase), lane);
    offset_ = _mm256_add_epi64(_mm256_slli_epi64(lane, 6), _mm256_srli_epi64(word, 2));
    const __m256i at = _mm256_and_si256(word, _mm256_set1_epi64x(3));
    for (int w = 0; w < 4; w++) mask_[w] = _mm256_cmpeq_epi64(at, _mm256_set1_epi64x(w));
  }

  /// The blocks that hold the first word of elements 4 * group ... + 3, or the blocks after those.
  DALIESQUE_INLINE FourBlocks counters(int64_t group, uint64_t next) const {
    const uint64_t base = low_ + 257 * static_cast<uint64_t>(group) + next;
    FourBlocks set;
    set.x[0] = _mm256_add_epi64(_mm256_set1_epi64x(static_cast<int64_t>(base)), offset_);
    set.x[1] = _mm256_srli_epi64(set.x[0], 32);
    set.x[2] = _mm256_set1_epi64x(static_cast<int64_t>(high_));
    set.x[3] = _mm256_srli_epi64(set.x[2], 32);
    return set;
  }

  /// Word k (0..3) of each of the four elements, out of their first blocks and the ones after.
  DALIESQUE_INLINE __m128i word(const FourBlocks& first, const FourBlocks& second, int k) const {
    __m256i chosen = _mm256_setzero_si256();
    for (int phase = 0; phase < 4; phase++) {
      const int at = phase + k;
      const __m256i source = at < 4 ? first.x[at] : second.x[at - 4];
      chosen = _mm256_or_si256(chosen, _mm256_and_si256(source, mask_[phase]));
    }
    const __m256i packed =
        _mm256_permutevar8x32_epi32(chosen, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
    return _mm256_castsi256_si128(packed);
  }

  uint64_t key() const { return key_; }

 private:
  uint64_t key_, low_, high_;
  __m256i offset_, mask_[4];
};

DALIESQUE_INLINE void store(uint32_t* out, __m128i words) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), words);
}

void words_by_eight(uint32_t* out, const PhiloxState& start, int64_t count, int words) {
  const ElementBlocks elements(start);
  for (int64_t i = 0; i < count; i += 8) {
    const int64_t group = i / 4;
    FourBlocks a = elements.counters(group, 0), b = elements.counters(group + 1, 0);
    run_rounds(a, b, elements.key());
    if (words == 1) {
      store(out + i, elements.word(a, a, 0));
      store(out + i + 4, elements.word(b, b, 0));
      continue;
    }
    FourBlocks c = elements.counters(group, 1), d = elements.counters(group + 1, 1);
    run_rounds(c, d, elements.key());
    for (int w = 0; w < words; w++) {
      store(out + w * kPhiloxTile + i, elements.word(a, c, w));
      store(out + w * kPhiloxTile + i + 4, elements.word(b, d, w));
    }
  }
}

#endif

/// Exact up to the one rounding of the addition, like a scalar conversion, and vectorisable.
DALIESQUE_INLINE float to_float(uint32_t word) {
  return static_cast<float>(static_cast<int32_t>(word >> 16)) * 65536.0f +
         static_cast<float>(static_cast<int32_t>(word & 0xFFFFu));
}

DALIESQUE_INLINE double to_double(uint32_t low, uint32_t high) {
  const auto exact = [](uint32_t word) {
    return static_cast<double>(static_cast<int32_t>(word ^ 0x80000000u)) + 0x1p31;
  };
  return exact(high) * 0x1p32 + exact(low);
}

/// Draw number k of element i, as a floating-point number not yet scaled to [0, 1].
template <class Real>
DALIESQUE_INLINE Real drawn(const uint32_t* words, int64_t i, int k) {
  if constexpr (sizeof(Real) == 4) {
    return to_float(words[k * kPhiloxTile + i]);
  } else {
    return to_double(words[2 * k * kPhiloxTile + i], words[(2 * k + 1) * kPhiloxTile + i]);
  }
}

DALIESQUE_INLINE float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
DALIESQUE_INLINE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
DALIESQUE_INLINE float box_muller(float u1, float u2) {
  return __builtin_sqrtf(-2 * ::logf(u1)) * ::cosf(static_cast<float>(2 * M_PI) * u2);
}
DALIESQUE_INLINE double box_muller(double u1, double u2) {
  return __builtin_sqrt(-2 * ::log(u1)) * ::cos(2 * M_PI * u2);
}

}  // namespace

void philox_words(uint32_t* out, const PhiloxState& sample, int64_t first, int64_t count,
                  int words) {
#ifdef __AVX2__
  const PhiloxState start = element_state(sample, first);
  const bool wraps = start.counter_low > ~uint64_t{0} - 2 * 64 * kPhiloxTile;
  if (count >= 4 && !wraps) return words_by_eight(out, start, count, words);
#endif
  words_one_by_one(out, sample, first, count, words);
}

template <class T>
void uniform(T* out, const uint32_t* words, int64_t count, const UniformRange<DrawType<T>>& range) {
  using Real = DrawType<T>;
  const Real low = range.low, high = range.high, factor = range.factor;
  for (int64_t i = 0; i < count; i++) {
    const Real value = fused(drawn<Real>(words, i, 0), factor, low);
    out[i] = saturate<T>(high < value ? high : value);
  }
}

template <class T>
void normal(T* out, const uint32_t* words, int64_t count, DrawType<T> mean, DrawType<T> stddev) {
  using Real = DrawType<T>;
  constexpr Real unit = sizeof(Real) == 4 ? Real(0x1p-32) : Real(0x1p-64);
  for (int64_t i = 0; i < count; i++) {
    Real u1 = drawn<Real>(words, i, 0) * unit, u2 = drawn<Real>(words, i, 1) * unit;
    if (u1 == 0) {
      // The logarithm needs a positive number; the reference takes the other one.
      u1 = u2 == 0 ? static_cast<Real>(1e-30f) : u2;
      u2 = 0;
    }
    out[i] = saturate<T>(fused(box_muller(u1, u2), stddev, mean));
  }
}

template <class T>
void at_most(T* out, const uint32_t* words, int64_t count, uint32_t threshold) {
  for (int64_t i = 0; i < count; i++) out[i] = static_cast<T>(words[i] <= threshold);
}

#define DALIESQUE_INSTANTIATE(T)                                                         \
  template void uniform(T*, const uint32_t*, int64_t, const UniformRange<DrawType<T>>&); \
  template void normal(T*, const uint32_t*, int64_t, DrawType<T>, DrawType<T>);

DALIESQUE_INSTANTIATE(uint8_t)
DALIESQUE_INSTANTIATE(uint16_t)
DALIESQUE_INSTANTIATE(uint32_t)
DALIESQUE_INSTANTIATE(uint64_t)
DALIESQUE_INSTANTIATE(int8_t)
DALIESQUE_INSTANTIATE(int16_t)
DALIESQUE_INSTANTIATE(int32_t)
DALIESQUE_INSTANTIATE(int64_t)
DALIESQUE_INSTANTIATE(float)
DALIESQUE_INSTANTIATE(double)
template void at_most(bool*, const uint32_t*, int64_t, uint32_t);
template void at_most(uint8_t*, const uint32_t*, int64_t, uint32_t);
template void at_most(int32_t*, const uint32_t*, int64_t, uint32_t);

}  // namespace daliesque::DALIESQUE_ISA
