// SPDX-License-Identifier: Apache-2.0
// What the functions of functions32.simd.h and functions64.simd.h are made of: bits, choices and
// polynomials of one value, written so that loops over them vectorize: no branches, no calls. Only
// the `.simd.cpp` files may include this.
//
// Nothing is fused unless it changes no bit, so that all builds agree.
#pragma once

#include <cstdint>
#include <iterator>
#include <type_traits>

#include "core/half.h"
#include "tensor/function_polynomials.h"

namespace daliesque::tensor::DALIESQUE_ISA {

/// An unsigned integer of the size of a floating-point type.
template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

/// Adding this rounds to an integer, which is then in the low bits.
template <class T>
constexpr T kRounder = sizeof(T) == 4 ? T(0x1.8p23) : T(0x1.8p52);

template <class T>
constexpr T kLog2e = T(0x1.71547652b82fep+0);
/// The parts of log(2). Products of the first one and exponents are exact.
template <class T>
constexpr T kLn2High = sizeof(T) == 4 ? T(0x1.62e4p-1) : T(0x1.62e42fefp-1);
template <class T>
constexpr T kLn2Low = sizeof(T) == 4 ? T(0x1.7f7d1cp-20) : T(0x1.473de6af278edp-34);

template <class T>
DALIESQUE_INLINE Bits<T> bits_of(T x) {
  return __builtin_bit_cast(Bits<T>, x);
}
DALIESQUE_INLINE float from_bits(uint32_t bits) { return __builtin_bit_cast(float, bits); }
DALIESQUE_INLINE double from_bits(uint64_t bits) { return __builtin_bit_cast(double, bits); }
DALIESQUE_INLINE float magnitude(float x) { return __builtin_fabsf(x); }
DALIESQUE_INLINE double magnitude(double x) { return __builtin_fabs(x); }
DALIESQUE_INLINE float with_sign(float x, float sign) { return __builtin_copysignf(x, sign); }
DALIESQUE_INLINE double with_sign(double x, double sign) { return __builtin_copysign(x, sign); }
DALIESQUE_INLINE float square_root(float x) { return __builtin_sqrtf(x); }
DALIESQUE_INLINE double square_root(double x) { return __builtin_sqrt(x); }

/// x, or -x if `sign` is negative.
template <class T>
DALIESQUE_INLINE T times_sign(T x, T sign) {
  return from_bits(bits_of(x) ^ (bits_of(sign) & bits_of(T(-0.0))));
}

/// By bits and not by a branch, into which the compiler would move the computation of a or b.
template <class T>
DALIESQUE_INLINE T select(bool condition, T a, std::type_identity_t<T> b) {
  const Bits<T> mask = condition ? ~Bits<T>{0} : 0;
  return from_bits((bits_of(a) & mask) | (bits_of(b) & ~mask));
}
/// The smaller one; NaN if x is.
template <class T>
DALIESQUE_INLINE T at_most(T x, std::type_identity_t<T> limit) {
  return x > limit ? limit : x;
}
/// The larger one; NaN if x is.
template <class T>
DALIESQUE_INLINE T at_least(T x, std::type_identity_t<T> limit) {
  return x < limit ? limit : x;
}

/// What a function has found in one of its steps.
template <class T>
struct Parts {
  T first, second;
};

template <class Terms, class T>
constexpr auto& terms_of() {
  if constexpr (sizeof(T) == 4) {
    return Terms::float32;
  } else {
    return Terms::float64;
  }
}

/// The sum of the terms k, k + step, k + 2 * step and so on, in powers of x.
template <int k, int step, class T, int n>
DALIESQUE_INLINE T sum_from(T x, const T (&terms)[n]) {
  if constexpr (k + step >= n) {
    return terms[k];
  } else {
    return terms[k] + x * sum_from<k + step, step>(x, terms);
  }
}

/// The polynomial of some terms of function_polynomials.h. Odd and even powers of a long one are
/// summed apart, which the processor does at the same time; but not the first term, which is the
/// largest, so as not to lose bits of it.
template <class Terms, class T>
DALIESQUE_INLINE T polynomial(T x) {
  constexpr auto& terms = terms_of<Terms, T>();
  if constexpr (std::size(terms) < 5) {
    return sum_from<0, 1>(x, terms);
  } else {
    const T square = x * x;
    return terms[0] + x * (sum_from<1, 2>(square, terms) + x * sum_from<2, 2>(square, terms));
  }
}

}  // namespace daliesque::tensor::DALIESQUE_ISA
