// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstring>
#include <limits>

#include "core/saturate.h"
#include "image/noise_loops.h"
#include "random/draws.h"

namespace daliesque::image::DALIESQUE_ISA {

namespace {

using random::DALIESQUE_ISA::drawn_normal;
using random::DALIESQUE_ISA::to_float;

template <class T>
void add_exactly(T* out, const T* in, const uint32_t* words, int64_t count,
                 random::DrawType<T> mean, random::DrawType<T> stddev) {
  using Real = random::DrawType<T>;
  Real noise[random::kPhiloxTile];
  random::DALIESQUE_ISA::normals(noise, words, count, mean, stddev);
  for (int64_t i = 0; i < count; i++) out[i] = saturate<T>(static_cast<Real>(in[i]) + noise[i]);
}

/// Within a relative error of 1e-6 of log, for positive normal numbers.
DALIESQUE_INLINE float quick_log(float value) {
  // The mantissa from sqrt(1/2) to sqrt(2), and the power of two that goes with it.
  constexpr uint32_t kRootHalf = 0x3f3504f3u;
  const uint32_t bits = std::bit_cast<uint32_t>(value) - kRootHalf;
  const auto exponent = static_cast<float>(static_cast<int32_t>(bits) >> 23);
  const float f = std::bit_cast<float>((bits & 0x7fffffu) + kRootHalf) - 1;
  // A least-squares fit at Chebyshev nodes.
  float sum = 0.087439455f;
  sum = sum * f - 0.14377330f;
  sum = sum * f + 0.14949095f;
  sum = sum * f - 0.16560696f;
  sum = sum * f + 0.19956978f;
  sum = sum * f - 0.25002155f;
  sum = sum * f + 0.33334184f;
  sum = sum * f - 0.49999988f;
  return exponent * 0.69314718f + (sum * f + 1.0f) * f;
}

/// Within 1e-6 of cos(2 pi u), for u in [0, 1].
DALIESQUE_INLINE float quick_cosine(float u) {
  const float centered = u - 0.5f;
  const float y = (centered < 0 ? -centered : centered) - 0.25f;
  const float z = y * y;
  // A fit of sin(2 pi y) / y on [-1/4, 1/4].
  float sum = 39.760723f;
  sum = sum * z - 76.581284f;
  sum = sum * z + 81.602478f;
  sum = sum * z - 41.341682f;
  sum = sum * z + 6.2831855f;
  return sum * y;
}

/// Normal numbers are at most this many standard deviations from the mean: the smallest uniform
/// number is 2^-32.
constexpr float kFarthestNoise = 6.67f;

/// How far apart a sum made of quick functions and one made of the C library's can be: they differ
/// by relative errors of 1e-6 in the noise, and by how sums of numbers up to `largest` are rounded.
DALIESQUE_INLINE float error_bound(float mean, float stddev, float largest) {
  const auto magnitude = [](float x) { return x < 0 ? -x : x; };
  const float noise = magnitude(stddev) * kFarthestNoise;
  return 1e-5f * noise + 5e-7f * (largest + magnitude(mean) + noise);
}

/// Computes quickly, and again exactly where that might round to another integer.
template <class T>
void add_quickly(T* out, const T* in, const uint32_t* words, int64_t count, float mean,
                 float stddev, float doubt) {
  constexpr auto kLowest = static_cast<float>(std::numeric_limits<T>::min());
  constexpr auto kHighest = static_cast<float>(std::numeric_limits<T>::max());
  alignas(32) uint8_t doubtful[random::kPhiloxTile];
  for (int64_t i = 0; i < count; i++) {
    const float u1 = to_float(words[i]) * 0x1p-32f;
    const float u2 = to_float(words[random::kPhiloxTile + i]) * 0x1p-32f;
    // Zero needs special care.
    const bool extreme = u1 < 1e-9f;
    const float squared = -2 * quick_log(extreme ? 0.5f : u1);
    const float normal = __builtin_sqrtf(squared) * quick_cosine(u2);
    const float sum = static_cast<float>(in[i]) + (normal * stddev + mean);
    const float above = sum > kLowest ? sum : kLowest;
    const float inside = above < kHighest ? above : kHighest;
    // From the lowest value up, numbers are positive, and cutting off the fraction rounds down.
    const float lifted = inside - kLowest + 0.5f;
    const auto whole = static_cast<int32_t>(lifted);
    const float rest = lifted - static_cast<float>(whole);
    doubtful[i] = static_cast<uint8_t>(extreme | (rest < doubt) | (rest > 1 - doubt));
    out[i] = static_cast<T>(whole + static_cast<int32_t>(std::numeric_limits<T>::min()));
  }
  for (int64_t i = 0; i < count; i++) {
    if (doubtful[i]) {
      const float noise = drawn_normal<float>(words, i, mean, stddev);
      out[i] = saturate<T>(static_cast<float>(in[i]) + noise);
    }
  }
}

}  // namespace

template <class T>
void add_normal(T* out, const T* in, const uint32_t* words, int64_t count, random::DrawType<T> mean,
                random::DrawType<T> stddev) {
  if constexpr (std::is_integral_v<T> && sizeof(T) <= 2) {
    const float doubt = error_bound(mean, stddev, std::numeric_limits<T>::max());
    if (doubt < 0.1f) return add_quickly(out, in, words, count, mean, stddev, doubt);
  }
  add_exactly(out, in, words, count, mean, stddev);
}

void count_below(uint8_t* kinds, const uint32_t* words, int64_t count, uint32_t limit,
                 uint32_t lower_limit) {
  for (int64_t i = 0; i < count; i++) {
    kinds[i] = static_cast<uint8_t>((words[i] < limit) + (words[i] < lower_limit));
  }
}

template void add_normal(uint8_t*, const uint8_t*, const uint32_t*, int64_t, float, float);
template void add_normal(uint16_t*, const uint16_t*, const uint32_t*, int64_t, float, float);
template void add_normal(uint32_t*, const uint32_t*, const uint32_t*, int64_t, double, double);
template void add_normal(uint64_t*, const uint64_t*, const uint32_t*, int64_t, double, double);
template void add_normal(int8_t*, const int8_t*, const uint32_t*, int64_t, float, float);
template void add_normal(int16_t*, const int16_t*, const uint32_t*, int64_t, float, float);
template void add_normal(int32_t*, const int32_t*, const uint32_t*, int64_t, double, double);
template void add_normal(int64_t*, const int64_t*, const uint32_t*, int64_t, double, double);
template void add_normal(float*, const float*, const uint32_t*, int64_t, float, float);

}  // namespace daliesque::image::DALIESQUE_ISA
