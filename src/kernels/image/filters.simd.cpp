// SPDX-License-Identifier: Apache-2.0
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "core/half.h"
#include "image/filter_loops.h"

namespace daliesque::image::DALIESQUE_ISA {

namespace {

#ifdef __AVX2__
/// `vectors` times eight sums at once: enough of them hide the latency of an addition.
template <int vectors>
DALIESQUE_INLINE void weigh_block(float* out, const float* const* rows, const float* weights,
                                  int64_t taps, int64_t first) {
  __m256 sums[vectors];
  for (int v = 0; v < vectors; v++) sums[v] = _mm256_setzero_ps();
  for (int64_t k = 0; k < taps; k++) {
    const __m256 weight = _mm256_broadcast_ss(weights + k);
    const float* row = rows[k] + first;
    for (int v = 0; v < vectors; v++) {
      sums[v] = _mm256_add_ps(sums[v], _mm256_mul_ps(_mm256_loadu_ps(row + 8 * v), weight));
    }
  }
  for (int v = 0; v < vectors; v++) _mm256_storeu_ps(out + first + 8 * v, sums[v]);
}
#else
template <int vectors>
DALIESQUE_INLINE void weigh_block(float* out, const float* const* rows, const float* weights,
                                  int64_t taps, int64_t first) {
  float sums[8 * vectors] = {};
  for (int64_t k = 0; k < taps; k++) {
    const float weight = weights[k];
    const float* __restrict row = rows[k] + first;
    for (int i = 0; i < 8 * vectors; i++) sums[i] += row[i] * weight;
  }
  for (int i = 0; i < 8 * vectors; i++) out[first + i] = sums[i];
}
#endif

void weigh_rows(float* out, const float* const* rows, const float* weights, int64_t taps,
                int64_t count) {
  int64_t i = 0;
  for (; i + 64 <= count; i += 64) weigh_block<8>(out, rows, weights, taps, i);
  for (; i < count; i += 16) weigh_block<2>(out, rows, weights, taps, i);
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

const FilterLoops filter_loops = {weigh_rows, scale, add_scaled, round_even};

}  // namespace daliesque::image::DALIESQUE_ISA
