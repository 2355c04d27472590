// SPDX-License-Identifier: Apache-2.0
// Exponentials, logarithms and angles of one double, with what is lost in rounding where it
// matters.
#pragma once

#include "tensor/functions.simd.h"

namespace daliesque::tensor::DALIESQUE_ISA::float64 {

constexpr double kPi = 0x1.921fb54442d18p+1, kPiLow = 0x1.1a62633145c07p-53;
/// The parts of pi / 2. Products of the first two and integers below 2^20 are exact.
constexpr double kQuarter1 = 0x1.921fb544p+0, kQuarter2 = 0x1.0b4611a6p-34,
                 kQuarter3 = 0x1.3198a2e037073p-69;
/// Below this, angles are brought into one quadrant exactly enough.
constexpr double kLargestAngle = 0x1p20;
constexpr double kTanEighth = 0x1.a827999fcef32p-2, kTanThreeEighths = 0x1.3504f333f9de6p+1;

/// A sum of which the second part is what the first one lost.
struct Sum {
  double high, low;
};

/// a + b, exactly (Knuth).
DALIESQUE_INLINE Sum exact_sum(double a, double b) {
  const double sum = a + b, back = sum - a;
  return {sum, (a - (sum - back)) + (b - back)};
}

/// The same, if a is the larger one or zero.
DALIESQUE_INLINE Sum quick_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

/// exp(x) = scale * (1 + rest), with a power of two and a small rest.
struct Exponential {
  double scale;
  Sum rest;

  DALIESQUE_INLINE double value() const { return scale * (1 + rest.high); }
};

/// exp(x + low), where `low` is about what x lost.
DALIESQUE_INLINE Exponential exponential(double x, double low = 0) {
  const double rounded = x * kLog2e<double> + kRounder<double>;
  const double k = rounded - kRounder<double>;
  const double scale = from_bits((bits_of(rounded) << 52) + bits_of(1.0));
  const double near = x - k * kLn2High<double>, step = k * kLn2Low<double> - low;
  const double r = near - step;
  const double more = r * r * polynomial<ExpTerms>(r) + ((near - r) - step);
  const double rest = r + more;
  return {scale, {rest, (r - rest) + more}};
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

/// c - a * b, rounded once, where c is about the product.
DALIESQUE_INLINE double difference_to_product(double c, double a, double b) {
#ifdef __FMA__
  return __builtin_fma(-a, b, c);
#else
  const double product = a * b;
  return (c - product) - lost_in_product(a, b, product);
#endif
}

/// The quotient of two sums.
DALIESQUE_INLINE Sum exact_quotient(Sum upper, Sum lower) {
  // One division is enough: what its result misses is found anyway.
  const double inverse = 1 / lower.high, ratio = upper.high * inverse;
  const double rest = difference_to_product(upper.high, ratio, lower.high);
  return {ratio, (rest + (upper.low - ratio * lower.low)) * inverse};
}

/// The same, as exact as a double can be.
DALIESQUE_INLINE double quotient(Sum upper, Sum lower) {
  const Sum found = exact_quotient(upper, lower);
  return found.high + found.low;
}

/// The root of a sum that is not negative.
DALIESQUE_INLINE Sum exact_root(Sum x) {
  const double root = square_root(x.high);
  const double rest = difference_to_product(x.high, root, root);
  return {root, select(root > 0, (rest + x.low) / (2 * root), 0)};
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

/// The exponent, with a bias.
struct Exponent {
  static constexpr uint64_t kBias = 1024;
  uint64_t biased;

  DALIESQUE_INLINE explicit Exponent(double x) {
    constexpr uint64_t kSqrtHalf = __builtin_bit_cast(uint64_t, 0x1.6a09e667f3bcdp-1);
    biased = (bits_of(x) - kSqrtHalf + (kBias << 52)) >> 52;
  }
  /// The number is put where the last bits of 2^52 are.
  DALIESQUE_INLINE double value() const {
    return from_bits(biased | bits_of(0x1p52)) - (0x1p52 + kBias);
  }
  /// x / 2^exponent.
  DALIESQUE_INLINE double fraction_of(double x) const {
    return from_bits(bits_of(x) - (biased << 52) + (kBias << 52));
  }
};

/// f and s of a logarithm, the first of two steps.
DALIESQUE_INLINE Parts<double> begin_logarithm(double x) {
  const double f = Exponent(x).fraction_of(x) - 1;
  return {f, f / (2 + f)};
}

DALIESQUE_INLINE Logarithm finish_logarithm(Parts<double> parts, double x) {
  const double z = parts.second * parts.second;
  return {Exponent(x).value(), parts.first, parts.second, z * polynomial<LogTerms>(z)};
}

DALIESQUE_INLINE Logarithm logarithm(double x) { return finish_logarithm(begin_logarithm(x), x); }

/// The logarithm of a number times 1 - excess, with an excess that is small.
DALIESQUE_INLINE double natural_log(Logarithm log, double excess = 0) {
  const double low = log.correction() + (log.exponent * kLn2Low<double> - excess);
  return log.exponent * kLn2High<double> - ((log.half_square() - low) - log.f);
}

DALIESQUE_INLINE double natural_log(Sum x) {
  return natural_log(logarithm(x.high), -x.low / x.high);
}

/// The quotient of which `finish_exact_log` is a function, and what it lost.
DALIESQUE_INLINE Parts<double> begin_exact_log(double x) {
  const double f = Exponent(x).fraction_of(x) - 1;
  const Sum lower = quick_sum(2, f);
  const double inverse = 1 / lower.high, s = f * inverse;
  return {s, (difference_to_product(f, s, lower.high) - s * lower.low) * inverse};
}

/// The logarithm of a double with some ten bits more than a double has.
DALIESQUE_INLINE Sum finish_exact_log(Parts<double> parts, double x) {
  // What the first of the terms lost.
  constexpr double kTwoThirdsLow = 0x1.5555555555555p-55;
  const double s = parts.first, s_low = parts.second, exponent = Exponent(x).value();
  const double z = s * s, z_low = lost_in_product(s, s, z) + 2 * s * s_low;
  constexpr double kFirst = LogTerms::float64[0];
  const double first = kFirst * z;
  const double first_low = lost_in_product(kFirst, z, first) + (kFirst * z_low + kTwoThirdsLow * z);
  const Sum rest = quick_sum(first, z * z * sum_from<1, 1>(z, LogTerms::float64));
  const Sum factor = quick_sum(2, rest.high);
  const double high = s * factor.high;
  const double low = lost_in_product(s, factor.high, high) +
                     (s * (factor.low + (rest.low + first_low)) + s_low * factor.high);
  const Sum sum = quick_sum(exponent * kLn2High<double>, high);
  return {sum.high, sum.low + (low + exponent * kLn2Low<double>)};
}

/// An angle less a multiple of pi / 2: r + low.
struct Angle {
  uint64_t quadrant;
  double r, low;

  DALIESQUE_INLINE bool odd() const { return (quadrant & 1) != 0; }
};

DALIESQUE_INLINE Angle angle(double x) {
  const double rounded = x * 0x1.45f306dc9c883p-1 + kRounder<double>;
  const double k = rounded - kRounder<double>;
  const double near = x - k * kQuarter1, step = k * kQuarter2;
  // Exact also where the step is larger: then both have few bits.
  const double first = near - step, missing = ((near - first) - step) - k * kQuarter3;
  const double r = first + missing;
  return {bits_of(rounded), r, (first - r) + missing};
}

/// The sine or cosine of an angle less a multiple of pi / 2, negative in quadrants 2 and 3.
DALIESQUE_INLINE double wave(Angle a, bool cosine, uint64_t quadrant) {
  const double z = a.r * a.r, half = 0.5 * z, most = 1 - half;
  const double sine = a.r + (a.r * z * polynomial<SinTerms>(z) + a.low * most);
  const double rest = z * z * polynomial<CosTerms>(z) - a.r * a.low;
  const double found = select(cosine, most + (((1 - most) - half) + rest), sine);
  return from_bits(bits_of(found) ^ ((quadrant & 2) << 62));
}

/// The arc tangent of y / x; neither is negative, and one is not zero.
DALIESQUE_INLINE double arc_tangent(double y, double x) {
  const bool steep = y > x * kTanThreeEighths, flat = !(y > x * kTanEighth);
  const Sum difference = exact_sum(y, -x), sum = exact_sum(y, x);
  const double upper = select(steep, -x, select(flat, y, difference.high));
  const double lower = select(steep, y, select(flat, x, sum.high));
  const double base = steep ? kPi / 2 : flat ? 0 : kPi / 4;
  const double ratio = upper / lower;
  const double z = ratio * ratio;
  const double lost = (difference.low - ratio * sum.low) / sum.high * (1 - z);
  const double low = steep ? kPiLow / 2 : flat ? 0 : kPiLow / 4;
  const double rest =
      ratio * z * polynomial<AtanTerms>(z) + (low + select(steep | flat, 0.0, lost));
  return base + (rest + ratio);
}

/// The arc sine of x, or where that is large, half of what is missing to pi / 2: start + rest.
struct ArcSine {
  double start, rest;
  bool large;
};

DALIESQUE_INLINE ArcSine arc_sine(double x) {
  const bool large = x > 0.5;
  const double missing = 0.5 * (1 - x), root = square_root(missing);
  const double z = select(large, missing, x * x), s = select(large, root, x);
  const double rest = s * z * polynomial<AsinTerms>(z);
  // A root of few bits, and what it misses.
  const double start = from_bits(bits_of(root) >> 32 << 32);
  const double lost = (missing - start * start) / (root + start);
  return {select(large, start, x), rest + select(large & (root > 0), lost, 0), large};
}

}  // namespace daliesque::tensor::DALIESQUE_ISA::float64
