// SPDX-License-Identifier: Apache-2.0
// Exponentials, logarithms and angles of one value, written so that loops over them vectorize: no
// branches, no calls. Only the `.simd.cpp` files may include this.
//
// `T` is the type of the result. All arithmetic is in double: a float result then needs no care,
// and a double one keeps what is lost where it matters. Nothing is fused, so that all builds agree.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/half.h"
#include "tensor/function_polynomials.h"

namespace daliesque::tensor::DALIESQUE_ISA {

/// Adding this rounds to an integer, which is then in the low bits.
constexpr double kRounder = 0x1.8p52;
constexpr double kLn2 = 0x1.62e42fefa39efp-1;
constexpr double kLn2High = 0x1.62e42fefp-1, kLn2Low = 0x1.473de6af278edp-34;
constexpr double kPi = 0x1.921fb54442d18p+1, kPiLow = 0x1.1a62633145c07p-53;
/// The parts of pi / 2. Products of the first two and integers below 2^20 are exact.
constexpr double kQuarter1 = 0x1.921fb544p+0, kQuarter2 = 0x1.0b4611a6p-34,
                 kQuarter3 = 0x1.3198a2e037073p-69;
/// Below this, angles are brought into one quadrant exactly enough.
constexpr double kLargestAngle = 0x1p20;
constexpr double kTanEighth = 0x1.a827999fcef32p-2, kTanThreeEighths = 0x1.3504f333f9de6p+1;

template <class T>
constexpr bool kIsDouble = std::is_same_v<T, double>;

DALIESQUE_INLINE uint64_t bits_of(double x) { return __builtin_bit_cast(uint64_t, x); }
DALIESQUE_INLINE double from_bits(uint64_t bits) { return __builtin_bit_cast(double, bits); }
DALIESQUE_INLINE double magnitude(double x) { return __builtin_fabs(x); }
DALIESQUE_INLINE double with_sign(double x, double sign) { return __builtin_copysign(x, sign); }
/// By bits and not by a branch, into which the compiler would move the computation of a or b.
DALIESQUE_INLINE double select(bool condition, double a, double b) {
  const uint64_t mask = condition ? ~uint64_t{0} : 0;
  return from_bits((bits_of(a) & mask) | (bits_of(b) & ~mask));
}
/// The smaller one; NaN if x is.
DALIESQUE_INLINE double at_most(double x, double limit) { return x > limit ? limit : x; }

template <int k, int n>
DALIESQUE_INLINE double polynomial(double x, const double (&terms)[n]) {
  if constexpr (k == n - 1) {
    return terms[k];
  } else {
    return terms[k] + x * polynomial<k + 1>(x, terms);
  }
}

template <class T, class Terms>
DALIESQUE_INLINE double sum_terms(double x) {
  if constexpr (kIsDouble<T>) {
    return polynomial<0>(x, Terms::float64);
  } else {
    return polynomial<0>(x, Terms::float32);
  }
}

/// A sum of which the second part is what the first one lost, or zero for float results.
struct Sum {
  double high, low;
};

/// a + b, exactly (Knuth).
DALIESQUE_INLINE Sum exact_sum(double a, double b) {
  const double sum = a + b, back = sum - a;
  return {sum, (a - (sum - back)) + (b - back)};
}

/// exp(x) = scale * (1 + rest), with a power of two and a small rest.
struct Exponential {
  double scale;
  Sum rest;

  DALIESQUE_INLINE double value() const { return scale * (1 + rest.high); }
};

/// exp(x + low), where `low` is about what x lost; it counts for double results only.
template <class T>
DALIESQUE_INLINE Exponential exponential(double x, double low = 0) {
  const double rounded = x * 0x1.71547652b82fep+0 + kRounder;
  const double k = rounded - kRounder;
  const double scale = from_bits((bits_of(rounded) << 52) + bits_of(1.0));
  if constexpr (kIsDouble<T>) {
    const double near = x - k * kLn2High, step = k * kLn2Low - low;
    const double r = near - step;
    const double more = r * r * sum_terms<T, ExpTerms>(r) + ((near - r) - step);
    const double rest = r + more;
    return {scale, {rest, (r - rest) + more}};
  } else {
    const double r = x - k * kLn2;
    return {scale, {r + r * r * sum_terms<T, ExpTerms>(r), 0}};
  }
}

/// exp(x) - 1, exact also for small x.
template <class T>
DALIESQUE_INLINE Sum exponential_minus_one(double x) {
  const Exponential e = exponential<T>(x);
  if constexpr (kIsDouble<T>) {
    const Sum sum = exact_sum(e.scale * e.rest.high, e.scale - 1);
    return {sum.high, sum.low + e.scale * e.rest.low};
  } else {
    return {e.scale * e.rest.high + (e.scale - 1), 0};
  }
}

/// a * b - product, exactly, where product is a * b rounded: by a fused operation where there is
/// one, else after Dekker.
DALIESQUE_INLINE double lost_in_product(double a, double b, double product) {
#ifdef __FMA__
  return __builtin_fma(a, b, -product);
#else
  constexpr double kSplitter = 0x1p27 + 1;
  const double a_high = a * kSplitter - (a * kSplitter - a), a_low = a - a_high;
  const double b_high = b * kSplitter - (b * kSplitter - b), b_low = b - b_high;
  return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
#endif
}

/// The quotient of two sums.
template <class T>
DALIESQUE_INLINE Sum exact_quotient(Sum upper, Sum lower) {
  const double ratio = upper.high / lower.high;
  if constexpr (kIsDouble<T>) {
    const double product = ratio * lower.high;
    const double rest = (upper.high - product) - lost_in_product(ratio, lower.high, product);
    return {ratio, (rest + (upper.low - ratio * lower.low)) / lower.high};
  } else {
    return {ratio, 0};
  }
}

/// The same, which for double is as exact as a double can be.
template <class T>
DALIESQUE_INLINE double quotient(Sum upper, Sum lower) {
  const Sum found = exact_quotient<T>(upper, lower);
  return kIsDouble<T> ? found.high + found.low : found.high;
}

/// The root of a sum that is not negative.
template <class T>
DALIESQUE_INLINE Sum exact_root(Sum x) {
  const double root = __builtin_sqrt(x.high);
  if constexpr (kIsDouble<T>) {
    const double square = root * root;
    const double rest = (x.high - square) - lost_in_product(root, root, square);
    return {root, select(root > 0, (rest + x.low) / (2 * root), 0)};
  } else {
    return {root, 0};
  }
}

/// log(x) = exponent * log(2) + log(1 + f), with f between sqrt(1/2) - 1 and sqrt(2) - 1, and
/// log(1 + f) = 2 * s + s * rest.
struct Logarithm {
  double exponent, f, s, rest;

  /// log(1 + f) as a sum of which the first part has few bits.
  DALIESQUE_INLINE double high() const { return from_bits(bits_of(f - half_square()) >> 32 << 32); }
  DALIESQUE_INLINE double low() const { return (f - high()) - half_square() + correction(); }
  DALIESQUE_INLINE double half_square() const { return 0.5 * f * f; }
  DALIESQUE_INLINE double correction() const { return s * (half_square() + rest); }
};

template <class T>
DALIESQUE_INLINE Logarithm logarithm(double x) {
  constexpr uint64_t kSqrtHalf = __builtin_bit_cast(uint64_t, 0x1.6a09e667f3bcdp-1);
  constexpr uint64_t kBias = 1024;
  const uint64_t exponent = (bits_of(x) - kSqrtHalf + (kBias << 52)) >> 52;
  const double f = from_bits(bits_of(x) - (exponent << 52) + (kBias << 52)) - 1;
  const double s = f / (2 + f);
  const double z = s * s;
  // The number is put where the last bits of 2^52 are.
  const double k = from_bits(exponent | bits_of(0x1p52)) - (0x1p52 + kBias);
  return {k, f, s, z * sum_terms<T, LogTerms>(z)};
}

/// The logarithm of x * (1 - excess), with an excess that is small; it counts for double results.
template <class T>
DALIESQUE_INLINE double natural_log(double x, double excess = 0) {
  const Logarithm log = logarithm<T>(x);
  if constexpr (kIsDouble<T>) {
    const double low = log.correction() + (log.exponent * kLn2Low - excess);
    return log.exponent * kLn2High - ((log.half_square() - low) - log.f);
  } else {
    return log.s * (2 + log.rest) + log.exponent * kLn2;
  }
}

template <class T>
DALIESQUE_INLINE double natural_log(Sum x) {
  return natural_log<T>(x.high, kIsDouble<T> ? -x.low / x.high : 0);
}

/// The logarithm of a double with some ten bits more than a double has.
DALIESQUE_INLINE Sum exact_log(double x) {
  // What the first of the terms lost.
  constexpr double kTwoThirdsLow = 0x1.5555555555555p-55;
  const Logarithm log = logarithm<double>(x);
  const Sum lower = exact_sum(2, log.f);
  const double inverse = 1 / lower.high, s = log.f * inverse, product = s * lower.high;
  const double s_low =
      (((log.f - product) - lost_in_product(s, lower.high, product)) - s * lower.low) * inverse;
  const double z = s * s, z_low = lost_in_product(s, s, z) + 2 * s * s_low;
  constexpr double kFirst = LogTerms::float64[0];
  const double first = kFirst * z;
  const double first_low = lost_in_product(kFirst, z, first) + (kFirst * z_low + kTwoThirdsLow * z);
  const Sum rest = exact_sum(first, z * z * polynomial<1>(z, LogTerms::float64));
  const Sum factor = exact_sum(2, rest.high);
  const double high = s * factor.high;
  const double low = lost_in_product(s, factor.high, high) +
                     (s * (factor.low + (rest.low + first_low)) + s_low * factor.high);
  const Sum sum = exact_sum(log.exponent * kLn2High, high);
  const double rest_low = sum.low + (low + log.exponent * kLn2Low);
  const double found = sum.high + rest_low;
  return {found, (sum.high - found) + rest_low};
}

/// Sine and cosine of an angle less a multiple of pi / 2.
struct Angle {
  uint64_t quadrant;
  Sum sine, cosine;

  DALIESQUE_INLINE bool odd() const { return (quadrant & 1) != 0; }
  /// Changes the sign in the third and fourth quadrants.
  DALIESQUE_INLINE static double in_quadrant(double x, uint64_t quadrant) {
    return from_bits(bits_of(x) ^ ((quadrant & 2) << 62));
  }
};

template <class T>
DALIESQUE_INLINE Angle angle(double x) {
  const double rounded = x * 0x1.45f306dc9c883p-1 + kRounder;
  const double k = rounded - kRounder;
  const double near = x - k * kQuarter1;
  if constexpr (kIsDouble<T>) {
    const double step = k * kQuarter2;
    const Sum first = exact_sum(near, -step);
    const double missing = first.low - k * kQuarter3;
    const double r = first.high + missing;
    const double low = (first.high - r) + missing;
    const double z = r * r, half = 0.5 * z, most = 1 - half;
    const double sine_rest = r * z * sum_terms<T, SinTerms>(z) + low * most;
    const double cosine_rest = ((1 - most) - half) + (z * z * sum_terms<T, CosTerms>(z) - r * low);
    const double sine = r + sine_rest, cosine = most + cosine_rest;
    return {
        bits_of(rounded), {sine, (r - sine) + sine_rest}, {cosine, (most - cosine) + cosine_rest}};
  } else {
    const double r = near - k * (kQuarter2 + kQuarter3);
    const double z = r * r;
    const double sine = r * (1 + z * sum_terms<T, SinTerms>(z));
    const double cosine = 1 - z * (0.5 - z * sum_terms<T, CosTerms>(z));
    return {bits_of(rounded), {sine, 0}, {cosine, 0}};
  }
}

/// The arc tangent of y / x; neither is negative, and one is not zero.
template <class T>
DALIESQUE_INLINE double arc_tangent(double y, double x) {
  const bool steep = y > x * kTanThreeEighths, flat = !(y > x * kTanEighth);
  const Sum difference = exact_sum(y, -x), sum = exact_sum(y, x);
  const double upper = select(steep, -x, select(flat, y, difference.high));
  const double lower = select(steep, y, select(flat, x, sum.high));
  const double base = steep ? kPi / 2 : flat ? 0 : kPi / 4;
  const double ratio = upper / lower;
  const double z = ratio * ratio;
  if constexpr (kIsDouble<T>) {
    const double lost = (difference.low - ratio * sum.low) / sum.high * (1 - z);
    const double low = steep ? kPiLow / 2 : flat ? 0 : kPiLow / 4;
    const double rest =
        ratio * z * sum_terms<T, AtanTerms>(z) + (low + select(steep | flat, 0, lost));
    return base + (rest + ratio);
  } else {
    return base + ratio * (1 + z * sum_terms<T, AtanTerms>(z));
  }
}

/// The arc sine of x, or where that is large, half of what is missing to pi / 2: start + rest.
struct ArcSine {
  double start, rest;
  bool large;
};

template <class T>
DALIESQUE_INLINE ArcSine arc_sine(double x) {
  const bool large = x > 0.5;
  const double missing = 0.5 * (1 - x), root = __builtin_sqrt(missing);
  const double z = select(large, missing, x * x), s = select(large, root, x);
  const double rest = s * z * sum_terms<T, AsinTerms>(z);
  if constexpr (kIsDouble<T>) {
    // A root of few bits, and what it misses.
    const double start = from_bits(bits_of(root) >> 32 << 32);
    const double lost = (missing - start * start) / (root + start);
    return {select(large, start, x), rest + select(large & (root > 0), lost, 0), large};
  } else {
    return {s, rest, large};
  }
}

}  // namespace daliesque::tensor::DALIESQUE_ISA
