// SPDX-License-Identifier: Apache-2.0
// Vectors of floats for the `.simd.cpp` files, which alone may include this. Operations work lane
// by lane, so that results do not depend on the width.
#pragma once

#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "core/half.h"

namespace daliesque::audio::DALIESQUE_ISA {

template <int lanes>
struct Vectors {
  using Type [[gnu::vector_size(lanes * 4)]] = float;
  using Loose [[gnu::vector_size(lanes * 4), gnu::aligned(4), gnu::may_alias]] = float;
};

/// How a loop sees its data: `lanes` floats at a time.
template <int lanes_>
struct Wide {
  static constexpr int lanes = lanes_;
  using Type = typename Vectors<lanes_>::Type;
  using Loose = typename Vectors<lanes_>::Loose;
  DALIESQUE_INLINE static Type load(const float* p) { return *reinterpret_cast<const Loose*>(p); }
  DALIESQUE_INLINE static void store(float* p, const Type& value) {
    *reinterpret_cast<Loose*>(p) = value;
  }
};

template <>
struct Wide<1> {
  static constexpr int lanes = 1;
  using Type = float;
  DALIESQUE_INLINE static float load(const float* p) { return *p; }
  DALIESQUE_INLINE static void store(float* p, float value) { *p = value; }
};

#ifdef __AVX2__
constexpr int kWidest = 8;
#else
constexpr int kWidest = 4;
#endif

#ifdef __AVX2__
/// Transposes 8x8.
DALIESQUE_INLINE void transpose(__m256 (&r)[8]) {
  __m256 t[8];
  for (int k = 0; k < 8; k += 2) {
    t[k] = _mm256_unpacklo_ps(r[k], r[k + 1]);
    t[k + 1] = _mm256_unpackhi_ps(r[k], r[k + 1]);
  }
  __m256 u[8];
  for (int k = 0; k < 8; k += 4) {
    u[k] = _mm256_shuffle_ps(t[k], t[k + 2], 0x44);
    u[k + 1] = _mm256_shuffle_ps(t[k], t[k + 2], 0xee);
    u[k + 2] = _mm256_shuffle_ps(t[k + 1], t[k + 3], 0x44);
    u[k + 3] = _mm256_shuffle_ps(t[k + 1], t[k + 3], 0xee);
  }
  for (int k = 0; k < 4; k++) {
    r[k] = _mm256_permute2f128_ps(u[k], u[k + 4], 0x20);
    r[k + 4] = _mm256_permute2f128_ps(u[k], u[k + 4], 0x31);
  }
}
#endif

}  // namespace daliesque::audio::DALIESQUE_ISA
