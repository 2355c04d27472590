// SPDX-License-Identifier: Apache-2.0
// Functions of the C library's kind of doubles. Results differ from the correctly rounded ones by
// one unit in the last place at most. Values for which the quick way is not meant (NaN, infinity,
// huge angles, results at the end of the range) are not ordinary and go through the C library.
#pragma once

#include <limits>

#include "tensor/function_parts64.simd.h"
#include "tensor/hyperbolic.simd.h"

namespace daliesque::tensor::DALIESQUE_ISA::float64 {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Exponentials of larger numbers overflow or underflow.
constexpr double kLargestExponent = 708;

DALIESQUE_INLINE bool is_normal_and_positive(double x) {
  return (x >= std::numeric_limits<double>::min()) & (x < kInfinity);
}

struct Exp {
  static bool is_ordinary(double x) { return (magnitude(x) < kLargestExponent); }
  DALIESQUE_INLINE static double apply(double x) { return exponential(x).value(); }
};

struct Log {
  DALIESQUE_INLINE static bool is_ordinary(double x) { return is_normal_and_positive(x); }
  DALIESQUE_INLINE static Parts<double> begin(double x) { return begin_logarithm(x); }
  DALIESQUE_INLINE static double finish(Parts<double> parts, double x) {
    return natural_log(finish_logarithm(parts, x));
  }
};

struct Log2 {
  DALIESQUE_INLINE static bool is_ordinary(double x) { return is_normal_and_positive(x); }
  DALIESQUE_INLINE static Parts<double> begin(double x) { return begin_logarithm(x); }
  DALIESQUE_INLINE static double finish(Parts<double> parts, double x) {
    const Logarithm log = finish_logarithm(parts, x);
    constexpr double kHigh = 0x1.71547p+0, kLow = 0x1.94ae0bf85ddf4p-22;
    const double high = log.high() * kHigh, sum = log.exponent + high;
    const double low = (log.low() + log.high()) * kLow + log.low() * kHigh;
    return (low + ((log.exponent - sum) + high)) + sum;
  }
};

struct Log10 {
  DALIESQUE_INLINE static bool is_ordinary(double x) { return is_normal_and_positive(x); }
  DALIESQUE_INLINE static Parts<double> begin(double x) { return begin_logarithm(x); }
  DALIESQUE_INLINE static double finish(Parts<double> parts, double x) {
    const Logarithm log = finish_logarithm(parts, x);
    constexpr double kHigh = 0x1.bcb7bp-2, kLow = 0x1.526e50e32a6abp-26;
    constexpr double kTwoHigh = 0x1.34413509f6p-2, kTwoLow = 0x1.9fef311f12b36p-42;
    const double high = log.high() * kHigh, whole = log.exponent * kTwoHigh;
    const double sum = whole + high;
    const double low = log.exponent * kTwoLow + (log.low() + log.high()) * kLow + log.low() * kHigh;
    return (low + ((whole - sum) + high)) + sum;
  }
};

struct Sin {
  DALIESQUE_INLINE static bool is_ordinary(double x) { return magnitude(x) < kLargestAngle; }
  DALIESQUE_INLINE static double apply(double x) {
    // Of the magnitude, so that a negative zero keeps its sign.
    const Angle a = angle(magnitude(x));
    return times_sign(wave(a, a.odd(), a.quadrant), x);
  }
};

struct Cos {
  DALIESQUE_INLINE static bool is_ordinary(double x) { return magnitude(x) < kLargestAngle; }
  DALIESQUE_INLINE static double apply(double x) {
    const Angle a = angle(x);
    return wave(a, !a.odd(), a.quadrant + 1);
  }
};

struct Tan {
  DALIESQUE_INLINE static bool is_ordinary(double x) { return magnitude(x) < kLargestAngle; }
  DALIESQUE_INLINE static double apply(double x) {
    const Angle a = angle(magnitude(x));
    const double z = a.r * a.r;
    const double rest = a.r * z * polynomial<TanTerms>(z) + (a.low + a.low * z);
    const double tangent = a.r + rest, lost = (a.r - tangent) + rest;
    // In odd quadrants it is -1 / tangent, and what the tangent lost counts.
    const double inverse = -1 / tangent;
    return times_sign(select(a.odd(), inverse + inverse * (inverse * lost), tangent), x);
  }
};

struct Asin {
  DALIESQUE_INLINE static bool is_ordinary(double) { return true; }
  DALIESQUE_INLINE static double apply(double x) {
    const ArcSine arc = arc_sine(magnitude(x));
    const double part = arc.start + arc.rest;
    // Multiples of a start of few bits are exact.
    const double rest = (kPi / 4 - 2 * arc.start) - (2 * arc.rest - kPiLow / 2);
    return with_sign(select(arc.large, kPi / 4 + rest, part), x);
  }
};

struct Acos {
  DALIESQUE_INLINE static bool is_ordinary(double) { return true; }
  DALIESQUE_INLINE static double apply(double x) {
    const ArcSine arc = arc_sine(magnitude(x));
    const double part = arc.start + arc.rest;
    const double obtuse = kPi - (2 * part - kPiLow);
    const double middle = kPi / 2 - (with_sign(part, x) - kPiLow / 2);
    return select(arc.large, select(x < 0, obtuse, 2 * part), middle);
  }
};

struct Atan {
  DALIESQUE_INLINE static bool is_ordinary(double x) { return magnitude(x) < kInfinity; }
  DALIESQUE_INLINE static double apply(double x) {
    return with_sign(arc_tangent(magnitude(x), 1), x);
  }
};

using Sinh = HyperbolicSine<double>;
using Cosh = HyperbolicCosine<double>;
using Tanh = HyperbolicTangent<double>;

/// Squares of larger numbers could overflow.
constexpr double kLargestSquared = 0x1p500;

/// The logarithm of x + sqrt(x^2 + one), and of what both lost.
DALIESQUE_INLINE double log_of_both(double x, double one) {
  const double square = x * x;
  Sum under = exact_sum(square, one);
  under.low += lost_in_product(x, x, square);
  const Sum root = exact_root(under);
  const Sum both = exact_sum(x, root.high);
  return natural_log(Sum{both.high, both.low + root.low});
}

/// Below this, the first two terms of a series are exact enough.
constexpr double kSmall = 0x1p-14;

struct Asinh {
  DALIESQUE_INLINE static bool is_ordinary(double x) { return magnitude(x) < kLargestSquared; }
  DALIESQUE_INLINE static double apply(double x) {
    const double a = magnitude(x);
    const double large = log_of_both(a, 1);
    const double small = a - a * a * a * (1.0 / 6);
    return with_sign(select(a < kSmall, small, large), x);
  }
};

struct Acosh {
  DALIESQUE_INLINE static bool is_ordinary(double x) { return (x >= 1) & (x < kLargestSquared); }
  DALIESQUE_INLINE static double apply(double x) { return log_of_both(x, -1); }
};

struct Atanh {
  DALIESQUE_INLINE static bool is_ordinary(double x) { return magnitude(x) < 1; }
  DALIESQUE_INLINE static Parts<double> begin(double x) {
    const double a = magnitude(x);
    const Sum found = exact_quotient(quick_sum(1, a), quick_sum(1, -a));
    return {found.high, found.low};
  }
  DALIESQUE_INLINE static double finish(Parts<double> parts, double x) {
    const double a = magnitude(x);
    const double large = 0.5 * natural_log(Sum{parts.first, parts.second});
    const double small = a + a * a * a * (1.0 / 3);
    return with_sign(select(a < kSmall, small, large), x);
  }
};

struct Cbrt {
  DALIESQUE_INLINE static bool is_ordinary(double x) {
    return is_normal_and_positive(magnitude(x));
  }
  /// How much the cube of the reciprocal of a root is off.
  DALIESQUE_INLINE static double error_of(double inverse, double a) {
    return 1 - a * inverse * (inverse * inverse);
  }
  DALIESQUE_INLINE static double apply(double x) {
    const double a = magnitude(x);
    // The bits are an exponent and nearly a logarithm of the rest: they are divided by -3. To that,
    // 4/3 of the bits of 1 are added, less what makes the errors to both sides equal.
    constexpr double kCbrtStart = 0x1.54fba5e354p+42;
    const double bits = from_bits((bits_of(a) >> 20) | bits_of(0x1p52)) - 0x1p52;
    const double third = kCbrtStart - bits * (1.0 / 3) + 0x1p52;
    double inverse = from_bits(bits_of(third) << 20);
    double error = error_of(inverse, a);
    inverse += inverse * error * (1.0 / 3 + error * (2.0 / 9 + error * (14.0 / 81)));
    error = error_of(inverse, a);
    inverse += inverse * error * (1.0 / 3 + error * (2.0 / 9));
    double root = a * (inverse * inverse);
    // A step of Newton's, from a number of few bits, whose square is exact.
    root = from_bits(bits_of(root) >> 28 << 28);
    const double ratio = a / (root * root);
    root += root * ((ratio - root) / (2 * root + ratio));
    return with_sign(root, x);
  }
};

/// The base comes first.
struct Pow {
  DALIESQUE_INLINE static bool is_ordinary(double x, double y) {
    // So that neither the power nor its reciprocal overflows: |log2(x)| is below this.
    const double exponent = from_bits((bits_of(x) >> 52) | bits_of(0x1p52)) - (0x1p52 + 1023);
    const bool in_range = magnitude(y) * (magnitude(exponent) + 1) < 1020;
    return is_normal_and_positive(x) & in_range;
  }
  DALIESQUE_INLINE static Parts<double> begin(double x, double) { return begin_exact_log(x); }
  DALIESQUE_INLINE static Parts<double> go_on(Parts<double> parts, double x, double) {
    const Sum log = finish_exact_log(parts, x);
    return {log.high, log.low};
  }
  DALIESQUE_INLINE static double finish(Parts<double> log, double x, double y) {
    // Squares are exact.
    const double product = y * log.first;
    const double low = lost_in_product(y, log.first, product) + y * log.second;
    return select(y == 2, x * x, exponential(product, low).value());
  }
};

struct Atan2 {
  DALIESQUE_INLINE static bool is_ordinary(double y, double x) {
    // So that quotients neither overflow nor underflow.
    constexpr double kLeast = 0x1p-500, kMost = 0x1p500;
    const double a = magnitude(x), b = magnitude(y);
    return (a >= kLeast) & (a <= kMost) & (b >= kLeast) & (b <= kMost);
  }
  DALIESQUE_INLINE static double apply(double y, double x) {
    const double acute = arc_tangent(magnitude(y), magnitude(x));
    const double obtuse = kPi - (acute - kPiLow);
    return with_sign(select(x < 0, obtuse, acute), y);
  }
};

}  // namespace daliesque::tensor::DALIESQUE_ISA::float64
