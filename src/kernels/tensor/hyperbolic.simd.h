// SPDX-License-Identifier: Apache-2.0
// Hyperbolic functions, which are computed in the same way for floats and doubles.
#pragma once

#include "tensor/functions.simd.h"

namespace daliesque::tensor::DALIESQUE_ISA {

/// A number as k * log(2) + r: half of 2^k and of 2^-k, and functions of r, of which sinh(r) is
/// near + sine_rest and cosh(r) is 1 + cosine_rest. From these come the functions of the number
/// without a division.
template <class T>
struct Hyperbolic {
  /// Above this, 2^k could overflow or 2^-k underflow.
  static constexpr T kLargest = sizeof(T) == 4 ? 87 : 708;
  T up, down, near, sine_rest, cosine_rest;
};

template <class T>
DALIESQUE_INLINE Hyperbolic<T> hyperbolic(T x) {
  constexpr int kShift = sizeof(T) == 4 ? 23 : 52;
  const T rounded = x * kLog2e<T> + kRounder<T>, k = rounded - kRounder<T>;
  const Bits<T> exponent = bits_of(rounded) << kShift;
  const T near = x - k * kLn2High<T>, step = k * kLn2Low<T>, r = near - step;
  const T z = r * r;
  return {from_bits(bits_of(T(0.5)) + exponent), from_bits(bits_of(T(0.5)) - exponent), near,
          r * z * polynomial<SinhTerms>(z) - step, z * polynomial<CoshTerms>(z)};
}

template <class T>
struct HyperbolicSine {
  DALIESQUE_INLINE static bool is_ordinary(T x) { return magnitude(x) < Hyperbolic<T>::kLargest; }
  DALIESQUE_INLINE static T apply(T x) {
    const Hyperbolic<T> h = hyperbolic(magnitude(x));
    const T sine = h.up - h.down, lost = (h.up - sine) - h.down, cosine = h.up + h.down;
    const T rest = sine * h.cosine_rest + (cosine * h.sine_rest + lost);
    return with_sign(sine + (cosine * h.near + rest), x);
  }
};

template <class T>
struct HyperbolicCosine {
  DALIESQUE_INLINE static bool is_ordinary(T x) { return magnitude(x) < Hyperbolic<T>::kLargest; }
  DALIESQUE_INLINE static T apply(T x) {
    const Hyperbolic<T> h = hyperbolic(magnitude(x));
    const T sine = h.near + h.sine_rest;
    return h.up + (h.up * (h.cosine_rest + sine) + h.down * (1 + (h.cosine_rest - sine)));
  }
};

template <class T>
struct HyperbolicTangent {
  DALIESQUE_INLINE static bool is_ordinary(T) { return true; }
  // Below the first, a polynomial is more exact; above the second, the result is 1.
  static constexpr T kSmall = sizeof(T) == 4 ? T(0.55) : T(0.65);
  static constexpr T kLargest = sizeof(T) == 4 ? 10 : 20;

  DALIESQUE_INLINE static Parts<T> begin(T x) {
    constexpr int kShift = sizeof(T) == 4 ? 23 : 52;
    const T a = magnitude(x), inside = at_most(a, kLargest);
    const T rounded = inside * (2 * kLog2e<T>)+kRounder<T>, k = rounded - kRounder<T>;
    const T r = (inside - k * (kLn2High<T> / 2)) - k * (kLn2Low<T> / 2);
    const T scale = from_bits((bits_of(rounded) << kShift) + bits_of(T(1)));
    return {scale, r};
  }
  DALIESQUE_INLINE static T finish(Parts<T> exponential, T x) {
    const T scale = exponential.first, r = exponential.second;
    const T grown = scale * (1 + r * polynomial<ExpTwiceTerms>(r));
    const T a = magnitude(x), z = a * a;
    const T small = a + a * z * polynomial<TanhTerms>(z);
    return with_sign(select(a < kSmall, small, 1 - 2 / (grown + 1)), x);
  }
};

}  // namespace daliesque::tensor::DALIESQUE_ISA
