// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "core/half.h"
#include "image/filter_loops.h"
#include "image/row_vectors.simd.h"

namespace daliesque::image::DALIESQUE_ISA {

namespace {

#if defined(__AVX512VBMI__)
constexpr int kLanes = 16;
#elif defined(__AVX2__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif

using Sums [[gnu::vector_size(4 * kLanes)]] = float;

DALIESQUE_INLINE void add_values(Sums& sum, const float* row, float weight, bool weighted) {
  Sums values;
  std::memcpy(&values, row, sizeof values);
  sum = sum + (weighted ? values * weight : values);
}

/// Several times kLanes sums at once: enough of them hide the latency of an addition. Without
/// `weights`, all are 1. No loop over the vectors: it would keep the sums in memory.
template <int... v>
DALIESQUE_INLINE void weigh_block(std::integer_sequence<int, v...>, Sums* sums,
                                  const float* const* rows, const float* weights, int64_t taps,
                                  int64_t first) {
  ((sums[v] = Sums{}), ...);
  for (int64_t k = 0; k < taps; k++) {
    const float weight = weights ? weights[k] : 1;
    const float* row = rows[k] + first;
    (add_values(sums[v], row + kLanes * v, weight, weights != nullptr), ...);
  }
}

/// One by one, as above.
template <int... v>
DALIESQUE_INLINE void write_sums(std::integer_sequence<int, v...>, float* out, const Sums* sums) {
  (std::memcpy(out + v * kLanes, &sums[v], sizeof sums[v]), ...);
}

constexpr int kMostVectors = 8;

/// Calls weigh(tag, first), where the tag says how many vectors make up a block, until all `count`
/// values are in some block. The last ones may reach into the padding.
template <int kMost, class Weigh>
DALIESQUE_INLINE void for_blocks(int64_t count, Weigh&& weigh, int64_t i = 0) {
  constexpr int kFew = kFilterPadding / kLanes;
  for (; i + kMost * kLanes <= count; i += kMost * kLanes) weigh.template operator()<kMost>(i);
  if constexpr (kMost > kFew) {
    // One vector alone would wait for each addition.
    for_blocks<kMost / 2>(count, weigh, i);
  } else if (i < count) {
    weigh.template operator()<kFew>(i);
  }
}

void weigh_rows(float* out, const float* const* rows, const float* weights, int64_t taps,
                int64_t count) {
  for_blocks<kMostVectors>(count, [&]<int vectors>(int64_t first) __attribute__((always_inline)) {
    Sums sums[vectors];
    weigh_block(Indices<vectors>(), sums, rows, weights, taps, first);
    write_sums(Indices<vectors>(), out + first, sums);
  });
}

/// Adds the products with one vector of values to those of `sums` that belong to rows
/// [begin, end) of the result; these are `vectors` apart. No loops, as above.
template <int begin, int vectors, int... r>
DALIESQUE_INLINE void add_products(std::integer_sequence<int, r...>, Sums* sums, const float* line,
                                   const float* weights) {
  Sums values;
  std::memcpy(&values, line, sizeof values);
#ifdef __AVX2__
  // Otherwise the compiler loads them for each product.
  asm("" : "+v"(values));
#endif
  ((sums[(begin + r) * vectors] = sums[(begin + r) * vectors] + values * weights[r]), ...);
}

template <int begin, int end, int... v>
DALIESQUE_INLINE void add_line(std::integer_sequence<int, v...>, Sums* sums, const float* line,
                               const DenseWindow& window, int64_t row) {
  const float* weights = window.weights + (row - begin) * window.width;
  for (int64_t x = 0; x < window.width; x++) {
    float all[end - begin];
    [&]<int... r>(std::integer_sequence<int, r...>) {
      ((all[r] = weights[x - r * window.width]), ...);
    }(Indices<end - begin>());
    (add_products<begin, sizeof...(v)>(Indices<end - begin>(), sums + v,
                                       line + x * window.step + v * kLanes, all),
     ...);
  }
}

#ifdef __AVX512VBMI__
/// The nearest integers of sums, which packing then clamps.
template <bool even>
DALIESQUE_INLINE __m512i to_integers(Sums sums) {
  constexpr float almost_half = 0x1.fffffep-2f;
  // Of NaN and a number, min gives the second one; what no integer holds becomes the lowest one.
  const __m512 limited = _mm512_min_ps(_mm512_set1_ps(255), (__m512)sums);
  return even ? _mm512_cvtps_epi32(limited)
              : _mm512_cvttps_epi32(_mm512_add_ps(limited, _mm512_set1_ps(almost_half)));
}

/// Rounds and clamps four vectors of sums.
template <bool even>
DALIESQUE_INLINE void four_to_bytes(uint8_t* out, const Sums* sums) {
  const __m512i low = _mm512_packs_epi32(to_integers<even>(sums[0]), to_integers<even>(sums[1]));
  const __m512i high = _mm512_packs_epi32(to_integers<even>(sums[2]), to_integers<even>(sums[3]));
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  _mm512_storeu_si512(out, _mm512_permutexvar_epi32(order, _mm512_packus_epi16(low, high)));
}
#endif

/// Rounds and clamps kFilterPadding sums.
template <bool even>
DALIESQUE_INLINE void to_bytes(uint8_t* out, const Sums* sums) {
#if defined(__AVX512VBMI__)
  const __m512i whole = _mm512_max_epi32(to_integers<even>(sums[0]), _mm512_setzero_si512());
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm512_cvtepi32_epi8(whole));
#elif defined(__AVX2__)
  constexpr float almost_half = 0x1.fffffep-2f;
  // Of NaN and a number, both min and max give the second one.
  const auto whole = [&](Sums values) {
    const __m256 positive = _mm256_max_ps((__m256)values, _mm256_setzero_ps());
    const __m256 clamped = _mm256_min_ps(positive, _mm256_set1_ps(255));
    return even ? _mm256_cvtps_epi32(clamped)
                : _mm256_cvttps_epi32(_mm256_add_ps(clamped, _mm256_set1_ps(almost_half)));
  };
  const __m256i words = _mm256_packs_epi32(whole(sums[0]), whole(sums[1]));
  const __m256i ordered = _mm256_permute4x64_epi64(words, 0xD8);
  _mm_storeu_si128(
      reinterpret_cast<__m128i*>(out),
      _mm_packus_epi16(_mm256_castsi256_si128(ordered), _mm256_extracti128_si256(ordered, 1)));
#else
  constexpr float almost_half = 0x1.fffffep-2f;
  for (int i = 0; i < kFilterPadding; i++) {
    const float value = sums[i / kLanes][i % kLanes];
    const float positive = value > 0.0f ? value : 0.0f;
    const float clamped = positive < 255.0f ? positive : 255.0f;
    // Adding 1.5 * 2^23 leaves no bits for a fraction.
    constexpr float no_fraction = 0x1.8p23f;
    const float rounded = even ? (clamped + no_fraction) - no_fraction : clamped + almost_half;
    out[i] = static_cast<uint8_t>(static_cast<int32_t>(rounded));
  }
#endif
}

/// The same for all vectors of a block.
template <bool even, int vectors>
DALIESQUE_INLINE void block_to_bytes(uint8_t* out, const Sums* sums) {
#ifdef __AVX512VBMI__
  if constexpr (vectors % 4 == 0) {
    [&]<int... part>(std::integer_sequence<int, part...>) {
      (four_to_bytes<even>(out + part * 4 * kLanes, sums + part * 4), ...);
    }(Indices<vectors / 4>());
    return;
  }
#endif
  constexpr int kPart = kFilterPadding / kLanes;
  [&]<int... part>(std::integer_sequence<int, part...>) {
    (to_bytes<even>(out + part * kFilterPadding, sums + part * kPart), ...);
  }(Indices<vectors / kPart>());
}

/// Values [first, first + vectors * kLanes) of a row of `count`, as far as it has them.
template <bool even, int vectors>
DALIESQUE_INLINE void store_bytes(uint8_t* out, const Sums* sums, int64_t first, int64_t count) {
  if (first + vectors * kLanes <= count) {
    block_to_bytes<even, vectors>(out + first, sums);
  } else {
    // Only what is left for the last part.
    uint8_t bytes[kFilterPadding];
    to_bytes<even>(bytes, sums);
    std::memcpy(out + first, bytes, static_cast<size_t>(count - first));
  }
}

template <bool even>
DALIESQUE_INLINE void weigh_rows_to_bytes(uint8_t* out, const float* const* rows,
                                          const float* weights, int64_t taps, int64_t count) {
  for_blocks<kMostVectors>(count, [&]<int vectors>(int64_t first) __attribute__((always_inline)) {
    Sums sums[vectors];
    weigh_block(Indices<vectors>(), sums, rows, weights, taps, first);
    store_bytes<even, vectors>(out, sums, first, count);
  });
}

void weigh_to_bytes(uint8_t* out, const float* const* rows, const float* weights, int64_t taps,
                    int64_t count, bool even) {
  if (even) {
    weigh_rows_to_bytes<true>(out, rows, weights, taps, count);
  } else {
    weigh_rows_to_bytes<false>(out, rows, weights, taps, count);
  }
}

void add_to_bytes(uint8_t* out, const float* const* rows, int64_t taps, int64_t count, bool even) {
  if (even) {
    weigh_rows_to_bytes<true>(out, rows, nullptr, taps, count);
  } else {
    weigh_rows_to_bytes<false>(out, rows, nullptr, taps, count);
  }
}

/// Each row of values counts for both rows of the result, except the first and the last one. The
/// sums of a row follow each other.
template <int vectors>
DALIESQUE_INLINE void weigh_window_block(Sums* sums, const float* const* rows,
                                         const DenseWindow& window, int64_t first) {
  static_assert(kWindowRows == 2);
  const Indices<vectors> all;
  [&]<int... k>(std::integer_sequence<int, k...>)
      __attribute__((always_inline)) { ((sums[k] = Sums{}), ...); }(Indices<2 * vectors>());
  add_line<0, 1>(all, sums, rows[0] + first, window, 0);
  for (int64_t q = 1; q < window.height; q++) {
    add_line<0, 2>(all, sums, rows[q] + first, window, q);
  }
  add_line<1, 2>(all, sums, rows[window.height] + first, window, window.height);
}

/// As many as there are registers for.
constexpr int kMostWindowVectors = kLanes == 16 ? 8 : 4;

void weigh_windows(float* out, int64_t stride, const float* const* rows, const DenseWindow& window,
                   int64_t count) {
  for_blocks<kMostWindowVectors>(
      count, [&]<int vectors>(int64_t first) __attribute__((always_inline)) {
        Sums sums[2 * vectors];
        weigh_window_block<vectors>(sums, rows, window, first);
        write_sums(Indices<vectors>(), out + first, sums);
        write_sums(Indices<vectors>(), out + stride + first, sums + vectors);
      });
}

template <bool even>
DALIESQUE_INLINE void windows_to_bytes(uint8_t* out, int64_t stride, const float* const* rows,
                                       const DenseWindow& window, int64_t count) {
  for_blocks<kMostWindowVectors>(
      count, [&]<int vectors>(int64_t first) __attribute__((always_inline)) {
        Sums sums[2 * vectors];
        weigh_window_block<vectors>(sums, rows, window, first);
        store_bytes<even, vectors>(out, sums, first, count);
        store_bytes<even, vectors>(out + stride, sums + vectors, first, count);
      });
}

void weigh_windows_to_bytes(uint8_t* out, int64_t stride, const float* const* rows,
                            const DenseWindow& window, int64_t count, bool even) {
  if (even) {
    windows_to_bytes<true>(out, stride, rows, window, count);
  } else {
    windows_to_bytes<false>(out, stride, rows, window, count);
  }
}

void widen(void* out, const void* in, int64_t count) {
  auto* to = static_cast<float*>(out);
  const auto* from = static_cast<const uint8_t*>(in);
  int64_t i = 0;
#ifdef __AVX512VBMI__
  for (; i + 16 <= count; i += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    _mm512_storeu_ps(to + i, _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(bytes)));
  }
#endif
  for (; i < count; i++) to[i] = static_cast<float>(from[i]);
}

void multiply(float* __restrict out, const float* __restrict in, float factor, int64_t count) {
  for (int64_t i = 0; i < count; i++) out[i] = in[i] * factor;
}

void scale(float* values, float factor, int64_t count) {
  for (int64_t i = 0; i < count; i++) values[i] *= factor;
}

void add_scaled(float* __restrict sums, const float* __restrict values, float factor,
                int64_t count) {
  for (int64_t i = 0; i < count; i++) sums[i] = values[i] * factor + sums[i];
}

void round_even(float* values, int64_t count) {
  // Adding 1.5 * 2^23 leaves no bits for a fraction; larger numbers have none.
  constexpr float kNoFraction = 0x1.8p23f, kWhole = 0x1p22f;
  for (int64_t i = 0; i < count; i++) {
    const float value = values[i];
    const float rounded = (value + kNoFraction) - kNoFraction;
    values[i] = value > -kWhole && value < kWhole ? rounded : value;
  }
}

}  // namespace

const FilterLoops filter_loops = {weigh_rows,     weigh_windows, weigh_windows_to_bytes,
                                  weigh_to_bytes, add_to_bytes,  widen,
                                  multiply,       scale,         add_scaled,
                                  round_even};

}  // namespace daliesque::image::DALIESQUE_ISA
