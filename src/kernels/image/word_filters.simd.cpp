// SPDX-License-Identifier: Apache-2.0
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "image/filter_loops.h"
#include "image/row_vectors.simd.h"

namespace daliesque::image::DALIESQUE_ISA {

namespace {

using Words = Vector<int16_t>;
constexpr int kWords = kVectorBytes / 2;
static_assert(kWordPadding % kWords == 0);

/// Adds the products of one vector to the sums of all terms, which are `vectors` apart. No loop
/// over terms or vectors: it would keep the sums in memory.
template <int vectors, int... t>
DALIESQUE_INLINE void add_word_products(std::integer_sequence<int, t...>, Words* sums, Words values,
                                        const int16_t* weights, int64_t taps) {
  ((sums[t * vectors] += values * weights[t * taps]), ...);
}

/// Adds the sums of each term.
template <int terms, int... v>
DALIESQUE_INLINE void weigh_word_vectors(std::integer_sequence<int, v...>, Words* sums,
                                         const int16_t* const* rows, const int16_t* weights,
                                         int64_t taps, int64_t first) {
  constexpr int kVectors = sizeof...(v);
  const int64_t middle = taps / 2;
  const auto load = [&](int64_t k, int vector) __attribute__((always_inline)) {
    return load_part<Words>(rows[k] + first + vector * kWords, 0);
  };
  for (int64_t k = 0; k < middle; k++) {
    (add_word_products<kVectors>(Indices<terms>(), sums + v, load(k, v) + load(taps - 1 - k, v),
                                 weights + k, taps),
     ...);
  }
  (add_word_products<kVectors>(Indices<terms>(), sums + v, load(middle, v), weights + middle, taps),
   ...);
}

template <int count>
DALIESQUE_INLINE void clear_words(Words* sums) {
  [&]<int... k>(std::integer_sequence<int, k...>)
      __attribute__((always_inline)) { ((sums[k] = Words{}), ...); }(Indices<count>());
}

template <int terms, int vectors>
DALIESQUE_INLINE void weigh_word_block(int16_t* out, int64_t stride, const int16_t* const* rows,
                                       const int16_t* weights, int64_t taps, int64_t first) {
  Words sums[terms * vectors];
  clear_words<terms * vectors>(sums);
  weigh_word_vectors<terms>(Indices<vectors>(), sums, rows, weights, taps, first);
  [&]<int... k>(std::integer_sequence<int, k...>) __attribute__((always_inline)) {
    (store_part(out + k / vectors * stride + first + k % vectors * kWords, 0, sums[k]), ...);
  }(Indices<terms * vectors>());
}

template <int terms>
DALIESQUE_INLINE void weigh_word_terms(int16_t* out, int64_t stride, const int16_t* const* rows,
                                       const int16_t* weights, int64_t taps, int64_t count) {
  constexpr int kMost = 4;
  int64_t i = 0;
  for (; i + kMost * kWords <= count; i += kMost * kWords) {
    weigh_word_block<terms, kMost>(out, stride, rows, weights, taps, i);
  }
  for (; i < count; i += kWords) weigh_word_block<terms, 1>(out, stride, rows, weights, taps, i);
}

/// Clamps kWordPadding words to bytes.
DALIESQUE_INLINE void clamp_words(uint8_t* out, const Words* words) {
#if defined(__AVX512VBMI__)
  _mm256_storeu_si256(
      reinterpret_cast<__m256i*>(out),
      _mm512_cvtusepi16_epi8(_mm512_max_epi16((__m512i)words[0], _mm512_setzero_si512())));
#elif defined(__AVX2__)
  const __m256i bytes = _mm256_packus_epi16((__m256i)words[0], (__m256i)words[1]);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_permute4x64_epi64(bytes, 0xD8));
#else
  for (int i = 0; i < kWordPadding; i++) {
    const int16_t word = words[i / kWords][i % kWords];
    out[i] = static_cast<uint8_t>(word < 0 ? 0 : word > 255 ? 255 : word);
  }
#endif
}

void weigh_words(int16_t* out, int64_t stride, const int16_t* const* rows, const int16_t* weights,
                 int64_t terms, int64_t taps, int64_t count) {
  for (; terms >= 2; terms -= 2) {
    weigh_word_terms<2>(out, stride, rows, weights, taps, count);
    out += 2 * stride;
    weights += 2 * taps;
  }
  if (terms == 1) weigh_word_terms<1>(out, stride, rows, weights, taps, count);
}

template <int vectors>
DALIESQUE_INLINE void add_word_terms(Words* sums, const int16_t* const* rows,
                                     const int16_t* weights, int64_t terms, int64_t taps,
                                     int64_t first) {
  clear_words<vectors>(sums);
  for (int64_t k = 0; k < terms * taps; k += taps) {
    weigh_word_vectors<1>(Indices<vectors>(), sums, rows + k, weights + k, taps, first);
  }
}

void weigh_words_to_bytes(uint8_t* out, const int16_t* const* rows, const int16_t* weights,
                          int64_t terms, int64_t taps, int64_t count) {
  constexpr int kPart = static_cast<int>(kWordPadding) / kWords, kMost = 4;
  Words sums[kMost * kPart];
  int64_t i = 0;
  for (; i + kMost * kWordPadding <= count; i += kMost * kWordPadding) {
    add_word_terms<kMost * kPart>(sums, rows, weights, terms, taps, i);
    [&]<int... part>(std::integer_sequence<int, part...>) __attribute__((always_inline)) {
      (clamp_words(out + i + part * kWordPadding, sums + part * kPart), ...);
    }(Indices<kMost>());
  }
  for (; i < count; i += kWordPadding) {
    add_word_terms<kPart>(sums, rows, weights, terms, taps, i);
    uint8_t bytes[kWordPadding];
    clamp_words(bytes, sums);
    std::memcpy(out + i, bytes,
                static_cast<size_t>(count - i < kWordPadding ? count - i : kWordPadding));
  }
}

void widen_to_words(void* out, const void* in, int64_t count) {
  auto* __restrict to = static_cast<int16_t*>(out);
  const auto* __restrict from = static_cast<const uint8_t*>(in);
  for (int64_t i = 0; i < count; i++) to[i] = from[i];
}

}  // namespace

const WordLoops word_loops = {weigh_words, weigh_words_to_bytes, widen_to_words};

}  // namespace daliesque::image::DALIESQUE_ISA
