// SPDX-License-Identifier: Apache-2.0
#include "random/philox.h"

#include "random/random_loops.h"
#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace daliesque::random::DALIESQUE_ISA {

namespace {

#ifdef __AVX2__

/// Several numbers of 64 bits.
#ifdef __AVX512VBMI__

using Longs = __m512i;
constexpr int kLongs = 8;

DALIESQUE_INLINE Longs spread(uint64_t x) { return _mm512_set1_epi64(static_cast<int64_t>(x)); }
DALIESQUE_INLINE Longs lanes_times(uint64_t x) {
  return _mm512_mullo_epi64(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7), spread(x));
}
DALIESQUE_INLINE Longs add(Longs a, Longs b) { return _mm512_add_epi64(a, b); }
DALIESQUE_INLINE Longs high_halves(Longs x) { return _mm512_srli_epi64(x, 32); }
DALIESQUE_INLINE Longs multiply_low_halves(Longs a, Longs b) { return _mm512_mul_epu32(a, b); }
DALIESQUE_INLINE Longs exclusive_or(Longs a, Longs b, Longs c) {
  return _mm512_ternarylogic_epi64(a, b, c, 0x96);
}

/// Stores the low halves of a[0], b[0], c[0], d[0], a[1], ...
DALIESQUE_INLINE void store_low_halves(uint32_t* out, Longs a, Longs b, Longs c, Longs d) {
  const Longs ab = _mm512_mask_shuffle_epi32(a, 0xAAAA, b, _MM_PERM_CCAA);
  const Longs cd = _mm512_mask_shuffle_epi32(c, 0xAAAA, d, _MM_PERM_CCAA);
  const Longs first = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
  const Longs last = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
  _mm512_storeu_si512(out, _mm512_permutex2var_epi64(ab, first, cd));
  _mm512_storeu_si512(out + 16, _mm512_permutex2var_epi64(ab, last, cd));
}

#else

using Longs = __m256i;
constexpr int kLongs = 4;

DALIESQUE_INLINE Longs spread(uint64_t x) { return _mm256_set1_epi64x(static_cast<int64_t>(x)); }
DALIESQUE_INLINE Longs lanes_times(uint64_t x) {
  return _mm256_mul_epu32(_mm256_setr_epi64x(0, 1, 2, 3), spread(x));
}
DALIESQUE_INLINE Longs add(Longs a, Longs b) { return _mm256_add_epi64(a, b); }
DALIESQUE_INLINE Longs high_halves(Longs x) { return _mm256_srli_epi64(x, 32); }
DALIESQUE_INLINE Longs multiply_low_halves(Longs a, Longs b) { return _mm256_mul_epu32(a, b); }
DALIESQUE_INLINE Longs exclusive_or(Longs a, Longs b, Longs c) {
  return _mm256_xor_si256(_mm256_xor_si256(a, b), c);
}

/// Stores the low halves of a[0], b[0], c[0], d[0], a[1], ...
DALIESQUE_INLINE void store_low_halves(uint32_t* out, Longs a, Longs b, Longs c, Longs d) {
  const Longs ab = _mm256_blend_epi32(a, _mm256_slli_epi64(b, 32), 0xAA);
  const Longs cd = _mm256_blend_epi32(c, _mm256_slli_epi64(d, 32), 0xAA);
  const Longs even = _mm256_unpacklo_epi64(ab, cd), odd = _mm256_unpackhi_epi64(ab, cd);
  auto* to = reinterpret_cast<Longs*>(out);
  _mm256_storeu_si256(to, _mm256_permute2x128_si256(even, odd, 0x20));
  _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(even, odd, 0x31));
}

#endif

/// Elements are 257 words apart: 64 blocks and one word. So every fourth element begins 257 blocks
/// after the one before, at the same word of its block. Such elements are computed together: then
/// the words that nobody wants are the same for all of them.
constexpr int64_t kGroup = 4 * kLongs;

/// A block for each of several elements: word w in the low halves of x[w]. The high halves hold
/// bits that no multiplication reads.
struct Blocks {
  Longs x[4];

  Blocks() = default;
  DALIESQUE_INLINE Blocks(uint64_t low, uint64_t high) {
    x[0] = add(spread(low), lanes_times(257));
    x[1] = high_halves(x[0]);
    x[2] = spread(high);
    x[3] = spread(high >> 32);
  }

  DALIESQUE_INLINE void run_round(Longs key0, Longs key1) {
    const Longs even = multiply_low_halves(x[0], spread(0xD2511F53u));
    const Longs odd = multiply_low_halves(x[2], spread(0xCD9E8D57u));
    x[0] = exclusive_or(high_halves(odd), x[1], key0);
    x[1] = odd;
    x[2] = exclusive_or(high_halves(even), x[3], key1);
    x[3] = even;
  }
};

/// Ten rounds on several sets, interleaved to hide the latency of the multiplications. Unrolled, so
/// that the compiler leaves out what only words that nobody wants need.
template <int count>
DALIESQUE_INLINE void run_rounds(Blocks (&sets)[count], uint64_t key) {
  auto k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
#pragma GCC unroll 10
  for (int round = 0; round < 10; round++) {
    const Longs key0 = spread(k0), key1 = spread(k1);
#pragma GCC unroll 8
    for (int s = 0; s < count; s++) sets[s].run_round(key0, key1);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
}

/// The elements of a tile, a group at a time.
class Groups {
 public:
  explicit Groups(const PhiloxState& start) : key_(start.key), high_(start.counter_high) {
    for (uint32_t phase = 0; phase < 4; phase++) {
      const uint32_t element = (phase - start.phase) & 3;
      position_[phase] = element;
      low_[phase] = start.counter_low + 64 * element + (start.phase + element) / 4;
    }
  }

  /// The counters of the blocks of those elements of a group that begin at word `phase`.
  DALIESQUE_INLINE Blocks counters(int64_t element, int phase, int block) const {
    const auto offset = 257 * static_cast<uint64_t>(element / 4) + static_cast<uint64_t>(block);
    return {low_[phase] + offset, high_};
  }

  /// Stores one word of each element of a group, given those for each phase.
  DALIESQUE_INLINE void store(uint32_t* out, const Longs (&words)[4]) const {
    Longs ordered[4];
    for (int phase = 0; phase < 4; phase++) ordered[position_[phase]] = words[phase];
    store_low_halves(out, ordered[0], ordered[1], ordered[2], ordered[3]);
  }

  uint64_t key() const { return key_; }

 private:
  uint64_t key_, high_, low_[4];
  uint32_t position_[4];
};

template <int words>
void first_words(uint32_t* out, const PhiloxState& start, int64_t count) {
  const Groups groups(start);
  for (int64_t i = 0; i < count; i += kGroup) {
    // The last phases need some words of the next block.
    constexpr int kNext = words - 1;
    Blocks sets[4 + kNext];
    for (int phase = 0; phase < 4; phase++) sets[phase] = groups.counters(i, phase, 0);
    for (int k = 0; k < kNext; k++) sets[4 + k] = groups.counters(i, 4 - kNext + k, 1);
    run_rounds(sets, groups.key());
    for (int w = 0; w < words; w++) {
      Longs found[4];
      for (int phase = 0; phase < 4; phase++) {
        const int at = phase + w;
        found[phase] = at < 4 ? sets[phase].x[at] : sets[phase + kNext].x[at - 4];
      }
      groups.store(out + w * kPhiloxTile + i, found);
    }
  }
}

/// Whole blocks: word w of block b of element i goes to out[(4 * b + w) * kPhiloxTile + i].
void whole_blocks(uint32_t* out, const PhiloxState& start, int64_t count, int blocks) {
  const Groups groups(start);
  for (int64_t i = 0; i < count; i += kGroup) {
    for (int block = 0; block < blocks; block++) {
      Blocks sets[4];
      for (int phase = 0; phase < 4; phase++) sets[phase] = groups.counters(i, phase, block);
      run_rounds(sets, groups.key());
      for (int w = 0; w < 4; w++) {
        const Longs words[4] = {sets[0].x[w], sets[1].x[w], sets[2].x[w], sets[3].x[w]};
        groups.store(out + (4 * block + w) * kPhiloxTile + i, words);
      }
    }
  }
}

/// Whether the low half of the counter stays below 2^64 for all elements of a tile.
bool stays_low(const PhiloxState& start) {
  return start.counter_low <= ~uint64_t{0} - 2 * 64 * kPhiloxTile;
}

#endif

void words_one_by_one(uint32_t* out, const PhiloxState& sample, int64_t first, int64_t count,
                      int words) {
  for (int64_t i = 0; i < count; i++) {
    Philox rng(element_state(sample, first + i));
    for (int w = 0; w < words; w++) out[w * kPhiloxTile + i] = rng();
  }
}

}  // namespace

void philox_words(uint32_t* out, const PhiloxState& sample, int64_t first, int64_t count,
                  int words) {
#ifdef __AVX2__
  const PhiloxState start = element_state(sample, first);
  if (count >= 4 && stays_low(start)) {
    if (words == 1) return first_words<1>(out, start, count);
    if (words == 2) return first_words<2>(out, start, count);
    return first_words<4>(out, start, count);
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

}  // namespace daliesque::random::DALIESQUE_ISA
