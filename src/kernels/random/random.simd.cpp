// SPDX-License-Identifier: Apache-2.0
#include "core/saturate.h"
#include "random/draws.h"
#include "random/random_loops.h"
#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace daliesque::random::DALIESQUE_ISA {

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
/// halves hold bits that no multiplication reads.
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
    // Element 3 - phase starts at word 3 of the block that is 64 blocks after that of the element
    // before it, and so on; the block after that is wanted.
    extra_offset_ = 64 * (3 - start.phase) + 1;
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

  /// The blocks after those that hold the first word, of the one element of each of four groups
  /// whose first word is the last of its block.
  DALIESQUE_INLINE FourBlocks extra_counters(int64_t group) const {
    const uint64_t base = low_ + 257 * static_cast<uint64_t>(group) + extra_offset_;
    FourBlocks set;
    set.x[0] = _mm256_add_epi64(_mm256_set1_epi64x(static_cast<int64_t>(base)),
                                _mm256_setr_epi64x(0, 257, 2 * 257, 3 * 257));
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
  uint64_t key_, low_, high_, extra_offset_;
  __m256i offset_, mask_[4];
};

DALIESQUE_INLINE void store(uint32_t* out, __m128i words) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), words);
}

#ifdef __AVX512VBMI__

/// As FourBlocks, of eight elements in a row.
struct EightBlocks {
  __m512i x[4];

  DALIESQUE_INLINE void run_round(__m512i key0, __m512i key1) {
    constexpr int kXorAll = 0x96;
    const __m512i even = _mm512_mul_epu32(x[0], _mm512_set1_epi64(0xD2511F53u));
    const __m512i odd = _mm512_mul_epu32(x[2], _mm512_set1_epi64(0xCD9E8D57u));
    x[0] = _mm512_ternarylogic_epi64(_mm512_srli_epi64(odd, 32), x[1], key0, kXorAll);
    x[1] = odd;
    x[2] = _mm512_ternarylogic_epi64(_mm512_srli_epi64(even, 32), x[3], key1, kXorAll);
    x[3] = even;
  }
};

void first_words(uint32_t* out, const PhiloxState& start, int64_t count) {
  const __m512i lane = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
  const __m512i word = _mm512_add_epi64(_mm512_set1_epi64(start.phase), lane);
  const __m512i offset = _mm512_add_epi64(_mm512_slli_epi64(lane, 6), _mm512_srli_epi64(word, 2));
  const __m512i at = _mm512_and_si512(word, _mm512_set1_epi64(3));
  __mmask8 chosen[4];
  for (int w = 0; w < 4; w++) chosen[w] = _mm512_cmpeq_epi64_mask(at, _mm512_set1_epi64(w));
  const __m512i high = _mm512_set1_epi64(static_cast<int64_t>(start.counter_high));
  constexpr int kSets = 3;
  for (int64_t i = 0; i < count; i += 8 * kSets) {
    EightBlocks sets[kSets];
    for (int g = 0; g < kSets; g++) {
      const uint64_t base = start.counter_low + 257 * static_cast<uint64_t>(i / 4 + 2 * g);
      const __m512i low = _mm512_add_epi64(_mm512_set1_epi64(static_cast<int64_t>(base)), offset);
      sets[g] = {{low, _mm512_srli_epi64(low, 32), high, _mm512_srli_epi64(high, 32)}};
    }
    auto k0 = static_cast<uint32_t>(start.key), k1 = static_cast<uint32_t>(start.key >> 32);
    for (int round = 0; round < 10; round++) {
      const __m512i key0 = _mm512_set1_epi64(k0), key1 = _mm512_set1_epi64(k1);
      for (EightBlocks& set : sets) set.run_round(key0, key1);
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    for (int g = 0; g < kSets && i + 8 * g < count; g++) {
      __m512i found = sets[g].x[0];
      for (int w = 1; w < 4; w++) found = _mm512_mask_mov_epi64(found, chosen[w], sets[g].x[w]);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i + 8 * g),
                          _mm512_cvtepi64_epi32(found));
    }
  }
}

#else

void first_words(uint32_t* out, const PhiloxState& start, int64_t count) {
  const ElementBlocks elements(start);
  for (int64_t i = 0; i < count; i += 8) {
    FourBlocks a = elements.counters(i / 4, 0), b = elements.counters(i / 4 + 1, 0);
    run_rounds(a, b, elements.key());
    store(out + i, elements.word(a, a, 0));
    store(out + i + 4, elements.word(b, b, 0));
  }
}

#endif

/// Of four elements in a row, one begins with the last word of a block. Only that one needs another
/// block for its second word; those of eight groups of four are made together.
void first_two_words(uint32_t* out, const PhiloxState& start, int64_t count) {
  const ElementBlocks elements(start);
  for (int64_t i = 0; i < count; i += 32) {
    const int64_t group = i / 4;
    FourBlocks first[8];
    for (int g = 0; g < 8; g++) first[g] = elements.counters(group + g, 0);
    for (int g = 0; g < 8; g += 2) run_rounds(first[g], first[g + 1], elements.key());
    FourBlocks extra[2] = {elements.extra_counters(group), elements.extra_counters(group + 4)};
    run_rounds(extra[0], extra[1], elements.key());
    for (int g = 0; g < 8; g++) {
      FourBlocks next;
      const __m256i words = extra[g / 4].x[0];
      next.x[0] = g % 4 == 0   ? _mm256_permute4x64_epi64(words, 0x00)
                  : g % 4 == 1 ? _mm256_permute4x64_epi64(words, 0x55)
                  : g % 4 == 2 ? _mm256_permute4x64_epi64(words, 0xAA)
                               : _mm256_permute4x64_epi64(words, 0xFF);
      store(out + i + 4 * g, elements.word(first[g], next, 0));
      store(out + kPhiloxTile + i + 4 * g, elements.word(first[g], next, 1));
    }
  }
}

void first_four_words(uint32_t* out, const PhiloxState& start, int64_t count) {
  const ElementBlocks elements(start);
  for (int64_t i = 0; i < count; i += 4) {
    FourBlocks a = elements.counters(i / 4, 0), b = elements.counters(i / 4, 1);
    run_rounds(a, b, elements.key());
    for (int w = 0; w < 4; w++) store(out + w * kPhiloxTile + i, elements.word(a, b, w));
  }
}

/// Whole blocks: word w of block b of element i goes to out[(4 * b + w) * kPhiloxTile + i].
void whole_blocks(uint32_t* out, const PhiloxState& start, int64_t count, int blocks) {
  const ElementBlocks elements(start);
  const __m256i order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
  for (int64_t i = 0; i < count; i += 8) {
    for (int block = 0; block < blocks; block++) {
      const auto next = static_cast<uint64_t>(block);
      FourBlocks a = elements.counters(i / 4, next), b = elements.counters(i / 4 + 1, next);
      run_rounds(a, b, elements.key());
      for (int w = 0; w < 4; w++) {
        const __m256i both = _mm256_blend_epi32(a.x[w], _mm256_slli_epi64(b.x[w], 32), 0xAA);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + (4 * block + w) * kPhiloxTile + i),
                            _mm256_permutevar8x32_epi32(both, order));
      }
    }
  }
}

/// Whether the low half of the counter stays below 2^64 for all elements of a tile.
bool stays_low(const PhiloxState& start) {
  return start.counter_low <= ~uint64_t{0} - 2 * 64 * kPhiloxTile;
}

#endif

}  // namespace

void philox_words(uint32_t* out, const PhiloxState& sample, int64_t first, int64_t count,
                  int words) {
#ifdef __AVX2__
  const PhiloxState start = element_state(sample, first);
  if (count >= 4 && stays_low(start)) {
    if (words == 1) return first_words(out, start, count);
    if (words == 2) return first_two_words(out, start, count);
    return first_four_words(out, start, count);
  }
#endif
  words_one_by_one(out, sample, first, count, words);
}

void philox_blocks(uint32_t* out, const PhiloxState& sample, int64_t first, int64_t count,
                   int blocks) {
#ifdef __AVX2__
  const PhiloxState start = element_state(sample, first);
  if (stays_low(start)) return whole_blocks(out, start, count, blocks);
#endif
  for (int64_t i = 0; i < count; i++) {
    PhiloxState state = element_state(sample, first + i);
    state.phase = 0;
    Philox rng(state);
    for (int w = 0; w < 4 * blocks; w++) out[w * kPhiloxTile + i] = rng();
  }
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
  for (int64_t i = 0; i < count; i++) {
    out[i] = saturate<T>(drawn_normal<DrawType<T>>(words, i, mean, stddev));
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

}  // namespace daliesque::random::DALIESQUE_ISA
