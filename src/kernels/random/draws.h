// SPDX-License-Identifier: Apache-2.0
// From random words to numbers, inside the files that are compiled for each instruction set.
#pragma once

#include <math.h>

#include "random/philox.h"

namespace daliesque::random::DALIESQUE_ISA {

/// Exact up to the one rounding of the addition, like a scalar conversion, and vectorizable.
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

/// Normally distributed, from the first two numbers of element i; the reference's arithmetic.
template <class Real>
DALIESQUE_INLINE Real drawn_normal(const uint32_t* words, int64_t i, Real mean, Real stddev) {
  constexpr Real unit = sizeof(Real) == 4 ? Real(0x1p-32) : Real(0x1p-64);
  Real u1 = drawn<Real>(words, i, 0) * unit, u2 = drawn<Real>(words, i, 1) * unit;
  if (u1 == 0) {
    // The logarithm needs a positive number; the reference takes the other one.
    u1 = u2 == 0 ? static_cast<Real>(1e-30f) : u2;
    u2 = 0;
  }
  return fused(box_muller(u1, u2), stddev, mean);
}

}  // namespace daliesque::random::DALIESQUE_ISA
