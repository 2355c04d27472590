// SPDX-License-Identifier: Apache-2.0
// Functions of the C library's kind of floats, in the arithmetic of floats: twice as many fit into
// a vector as doubles. Results differ from the correctly rounded ones by one unit in the last place
// at most: errors come close to 1.5 units, so a change is to be tried on all floats, not on some.
// Values that are not ordinary (NaN, infinity, huge angles, results at the end of the range) are
// left to the functions of doubles.
#pragma once

#include <limits>

#include "tensor/hyperbolic.simd.h"

namespace daliesque::tensor::DALIESQUE_ISA::float32 {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
/// The parts of pi / 2.
constexpr float kQuarter1 = 0x1.921fb6p+0f, kQuarter2 = -0x1.777a5cp-25f,
                kQuarter3 = -0x1.ee59dap-50f;
/// Below this, angles are brought into one quadrant exactly enough.
constexpr float kLargestAngle = 0x1p17f;

/// a * b + c, rounded once, where the sum has no more bits than a double.
DALIESQUE_INLINE float fused(float a, float b, float c) {
#ifdef __FP_FAST_FMAF
  return __builtin_fmaf(a, b, c);
#else
  return static_cast<float>(static_cast<double>(a) * b + c);
#endif
}

/// x * 2^exponent, where that is a float's exponent or up to twice as large or small.
DALIESQUE_INLINE float scaled(float x, int32_t exponent) {
  // In two steps, so that neither factor is out of range; only the last one rounds.
  constexpr int32_t kBias = 127;
  const int32_t half = exponent >> 1;
  const auto first = static_cast<uint32_t>(half + kBias);
  const auto second = static_cast<uint32_t>(exponent - half + kBias);
  return x * from_bits(first << 23) * from_bits(second << 23);
}

/// The integer that `rounded` is with kRounder added to it.
DALIESQUE_INLINE int32_t integer_of(float rounded) {
  return static_cast<int32_t>(bits_of(rounded) - bits_of(kRounder<float>));
}

struct Exp {
  DALIESQUE_INLINE static bool is_ordinary(float) { return true; }
  DALIESQUE_INLINE static float apply(float x) {
    // Beyond these, results are infinite or zero.
    const float inside = at_least(at_most(x, 89), -104);
    const float rounded = inside * kLog2e<float> + kRounder<float>, k = rounded - kRounder<float>;
    const float r = (inside - k * kLn2High<float>)-k * kLn2Low<float>;
    const float found = 1 + (r + r * r * polynomial<ExpTerms>(r));
    return scaled(found, integer_of(rounded));
  }
};

/// x = 2^exponent * (1 + f), with f between sqrt(1/2) - 1 and sqrt(2) - 1.
struct Split {
  static constexpr uint32_t kSqrtHalf = __builtin_bit_cast(uint32_t, 0x1.6a09e6p-1f);
  static constexpr uint32_t kExponentBits = 0xff800000;
  float exponent, f;

  DALIESQUE_INLINE static float exponent_of(uint32_t above) {
    return static_cast<float>(static_cast<int32_t>(above) >> 23);
  }
};

DALIESQUE_INLINE Split split(float x) {
  const uint32_t above = bits_of(x) - Split::kSqrtHalf;
  const float fraction = from_bits((above & ~Split::kExponentBits) + Split::kSqrtHalf);
  return {Split::exponent_of(above), fraction - 1};
}

/// The logarithm of 2^exponent * (1 + f - excess), with an excess that is small.
DALIESQUE_INLINE float natural_log(Split x, float excess = 0) {
  const float low = x.exponent * kLn2Low<float> - excess;
  const float rest = x.f * x.f * polynomial<LogTerms>(x.f) + low;
  return (x.f + rest) + x.exponent * kLn2High<float>;
}

/// The logarithm of a + b, of which b is the larger one.
DALIESQUE_INLINE float log_of_sum(float a, float b) {
  const uint32_t above = bits_of(a + b) - Split::kSqrtHalf;
  const float scale = from_bits(bits_of(1.0f) - (above & Split::kExponentBits));
  const float most = b * scale - 1, f = most + a * scale;
  return natural_log({Split::exponent_of(above), f}, (f - most) - a * scale);
}

DALIESQUE_INLINE bool is_normal_and_positive(float x) {
  return (x >= std::numeric_limits<float>::min()) & (x < kInfinity);
}

struct Log {
  DALIESQUE_INLINE static bool is_ordinary(float x) { return is_normal_and_positive(x); }
  DALIESQUE_INLINE static float apply(float x) { return natural_log(split(x)); }
};

struct Log2 {
  DALIESQUE_INLINE static bool is_ordinary(float x) { return is_normal_and_positive(x); }
  DALIESQUE_INLINE static float apply(float x) {
    const Split log = split(x);
    return (log.f + log.f * polynomial<Log2Terms>(log.f)) + log.exponent;
  }
};

struct Log10 {
  DALIESQUE_INLINE static bool is_ordinary(float x) { return is_normal_and_positive(x); }
  DALIESQUE_INLINE static float apply(float x) {
    constexpr float kTwoHigh = 0x1.344p-2f, kTwoLow = 0x1.3509f8p-18f;
    const Split log = split(x);
    const float rest = log.f * polynomial<Log10Terms>(log.f) + log.exponent * kTwoLow;
    return (0.5f * log.f + rest) + log.exponent * kTwoHigh;
  }
};

/// An angle less a multiple of pi / 2: r + low.
struct Angle {
  uint32_t quadrant;
  float r, low;

  DALIESQUE_INLINE bool odd() const { return (quadrant & 1) != 0; }
};

DALIESQUE_INLINE Angle angle(float x) {
  const float rounded = x * 0x1.45f306p-1f + kRounder<float>, k = rounded - kRounder<float>;
  const float near = fused(-k, kQuarter1, x), step = k * kQuarter2, r = near - step;
  const float low = ((near - r) - step) - (fused(k, kQuarter2, -step) + k * kQuarter3);
  return {bits_of(rounded), r, low};
}

/// The sine or cosine of an angle less a multiple of pi / 2, negative in quadrants 2 and 3.
DALIESQUE_INLINE float wave(Angle a, bool cosine, uint32_t quadrant) {
  const float z = a.r * a.r;
  const float sine = a.r + (a.r * z * polynomial<SinTerms>(z) + a.low);
  const float rest = z * z * polynomial<CosTerms>(z) - a.r * a.low;
  const float found = select(cosine, (1 - 0.5f * z) + rest, sine);
  return from_bits(bits_of(found) ^ ((quadrant & 2) << 30));
}

struct Sin {
  DALIESQUE_INLINE static bool is_ordinary(float x) { return magnitude(x) < kLargestAngle; }
  DALIESQUE_INLINE static float apply(float x) {
    // Of the magnitude, so that a negative zero keeps its sign.
    const Angle a = angle(magnitude(x));
    return times_sign(wave(a, a.odd(), a.quadrant), x);
  }
};

struct Cos {
  DALIESQUE_INLINE static bool is_ordinary(float x) { return magnitude(x) < kLargestAngle; }
  DALIESQUE_INLINE static float apply(float x) {
    const Angle a = angle(x);
    return wave(a, !a.odd(), a.quadrant + 1);
  }
};

struct Tan {
  DALIESQUE_INLINE static bool is_ordinary(float x) { return magnitude(x) < kLargestAngle; }
  DALIESQUE_INLINE static float apply(float x) {
    const Angle a = angle(magnitude(x));
    const float z = a.r * a.r;
    const float rest = a.r * z * polynomial<TanTerms>(z) + (a.low + a.low * z);
    const float tangent = a.r + rest, lost = (a.r - tangent) + rest;
    // In odd quadrants it is -1 / tangent, and what the tangent lost counts.
    const float inverse = -1 / tangent;
    return times_sign(select(a.odd(), inverse + inverse * (inverse * lost), tangent), x);
  }
};

/// The arc sine of x, or where that is large, half of what is missing to pi / 2: start + rest.
struct ArcSine {
  float start, rest;

  DALIESQUE_INLINE static bool is_large(float x) { return x > 0.5f; }
};

DALIESQUE_INLINE ArcSine arc_sine(float x) {
  const bool large = ArcSine::is_large(x);
  const float missing = 0.5f - 0.5f * x, root = square_root(missing);
  const float z = select(large, missing, x * x), start = select(large, root, x);
  return {start, start * z * polynomial<AsinTerms>(z)};
}

struct Asin {
  DALIESQUE_INLINE static bool is_ordinary(float) { return true; }
  DALIESQUE_INLINE static float apply(float x) {
    const float a = magnitude(x);
    const ArcSine arc = arc_sine(a);
    const float less = (kQuarter1 / 2 - 2 * arc.start) - (2 * arc.rest - kQuarter2);
    return with_sign(select(ArcSine::is_large(a), kQuarter1 / 2 + less, arc.start + arc.rest), x);
  }
};

struct Acos {
  DALIESQUE_INLINE static bool is_ordinary(float) { return true; }
  DALIESQUE_INLINE static float apply(float x) {
    const float a = magnitude(x);
    const ArcSine arc = arc_sine(a);
    const float part = with_sign(arc.start + arc.rest, x);
    const float end = select(x < 0, 2 * kQuarter1, 0);
    return select(ArcSine::is_large(a), end + 2 * part, kQuarter1 - part);
  }
};

/// The arc tangent of upper / lower, or pi / 2 less that of lower / upper: where `steep`, the
/// quotient is that of -lower and upper.
DALIESQUE_INLINE float arc_tangent(float quotient, bool steep) {
  const float z = quotient * quotient;
  // Odd and even powers would be large and cancel each other.
  const float rest = quotient * z * sum_from<0, 1>(z, AtanTerms::float32);
  const float base = select(steep, kQuarter1, 0), low = select(steep, kQuarter2, 0);
  return (base + quotient) + (rest + low);
}

struct Atan {
  DALIESQUE_INLINE static bool is_ordinary(float) { return true; }
  DALIESQUE_INLINE static float apply(float x) {
    const float a = magnitude(x);
    const bool steep = a > 1;
    const float quotient = select(steep, -1.0f, a) / select(steep, a, 1);
    return with_sign(arc_tangent(quotient, steep), x);
  }
};

/// The ordinate comes first.
struct Atan2 {
  /// The quotient of the smaller and the larger one.
  DALIESQUE_INLINE static float quotient(float a, float b, bool steep) {
    return select(steep, -b, a) / select(steep, a, b);
  }
  DALIESQUE_INLINE static bool is_ordinary(float y, float x) {
    const float a = magnitude(y), b = magnitude(x);
    const float found = quotient(a, b, a > b);
    return found == found;
  }
  DALIESQUE_INLINE static float apply(float y, float x) {
    const float a = magnitude(y), b = magnitude(x);
    const bool steep = a > b;
    const float acute = arc_tangent(quotient(a, b, steep), steep);
    const float obtuse = 2 * kQuarter1 - (acute - 2 * kQuarter2);
    return with_sign(select(x < 0, obtuse, acute), y);
  }
};

using Sinh = HyperbolicSine<float>;
using Cosh = HyperbolicCosine<float>;
using Tanh = HyperbolicTangent<float>;

/// Squares of larger numbers could overflow.
constexpr float kLargestSquared = 0x1p60f;

struct Asinh {
  DALIESQUE_INLINE static bool is_ordinary(float x) { return magnitude(x) < kLargestSquared; }
  DALIESQUE_INLINE static float apply(float x) {
    const float a = magnitude(x), z = a * a;
    // Where it is not large, the sum has too many bits, but there it is not asked for.
    const float large = log_of_sum(a, square_root(fused(a, a, 1)));
    const float small = a + a * z * polynomial<AsinhTerms>(z);
    return with_sign(select(a < 0.75f, small, large), x);
  }
};

struct Acosh {
  DALIESQUE_INLINE static bool is_ordinary(float x) { return (x >= 1) & (x < kLargestSquared); }
  DALIESQUE_INLINE static bool is_small(float above) { return above < 0.5f; }
  DALIESQUE_INLINE static Parts<float> begin(float x) {
    const float above = x - 1;
    const bool small = is_small(above);
    const float root = square_root(above * select(small, 2.0f, x + 1));
    return {root, root + root * above * polynomial<AcoshTerms>(above)};
  }
  DALIESQUE_INLINE static float finish(Parts<float> parts, float x) {
    return select(is_small(x - 1), parts.second, log_of_sum(parts.first, x));
  }
};

struct Atanh {
  DALIESQUE_INLINE static bool is_ordinary(float x) {
    // Nearer to 1, the sums of 1 and `power` have too many bits.
    constexpr float kLargest = 1 - 0x1p-20f;
    return magnitude(x) <= kLargest;
  }
  DALIESQUE_INLINE static float apply(float x) {
    // It is half of log((1 + a) / (1 - a)). With 2^k near that quotient, the rest is the same
    // function of s.
    const float a = magnitude(x);
    const uint32_t ratio = bits_of(1 + a) - bits_of(1 - a);
    const uint32_t exponent = a < 1.0f / 3 ? 0 : (ratio + (1u << 22)) >> 23;
    const float power = from_bits((exponent << 23) + bits_of(1.0f));
    const float k = static_cast<float>(static_cast<int32_t>(exponent));
    const float s = fused(a, 1 + power, 1 - power) / fused(a, 1 - power, 1 + power);
    const float z = s * s;
    const float rest = s * z * polynomial<AtanhTerms>(z) + k * (kLn2Low<float> / 2);
    return with_sign((s + rest) + k * (kLn2High<float> / 2), x);
  }
};

struct Cbrt {
  DALIESQUE_INLINE static bool is_ordinary(float x) {
    // Cubes of roots of smaller numbers lose bits.
    constexpr float kLeast = 0x1p-100f;
    const float a = magnitude(x);
    return (a == 0) | ((a >= kLeast) & (a < kInfinity));
  }
  DALIESQUE_INLINE static float apply(float x) {
    const float a = magnitude(x);
    // The bits are an exponent and nearly a logarithm of the rest: they are divided by -3. To that,
    // 4/3 of the bits of 1 are added, less what makes the errors to both sides equal.
    constexpr float kStart = 0x1.5287cfp30f;
    const float bits = static_cast<float>(static_cast<int32_t>(bits_of(a)));
    const auto start = static_cast<int32_t>(kStart - bits * (1.0f / 3));
    float inverse = from_bits(static_cast<uint32_t>(start));
    const float error = 1 - a * inverse * (inverse * inverse);
    inverse += inverse * error * (1.0f / 3 + error * (2.0f / 9 + error * (14.0f / 81)));
    // A step of Newton's, with the exact cube.
    const float area = inverse * inverse, root = a * area, square = root * root;
    const float missing = fused(-square, root, a) - fused(root, root, -square) * root;
    return with_sign(root + missing * area * (1.0f / 3), x);
  }
};

/// The base comes first.
struct Pow {
  DALIESQUE_INLINE static bool is_ordinary(float x, float y) {
    return is_normal_and_positive(x) & (magnitude(y) < kInfinity);
  }
  /// The quotient of which the logarithm is a function, and what it lost.
  DALIESQUE_INLINE static Parts<float> begin(float x, float) {
    const float f = split(x).f;
    const float lower = 2 + f, lower_low = f - (lower - 2);
    const float inverse = 1 / lower, s = f * inverse;
    return {s, (fused(-s, lower, f) - s * lower_low) * inverse};
  }
  /// The logarithm to base 2, with more bits than a float has: the second part is what the first
  /// one lost.
  DALIESQUE_INLINE static Parts<float> go_on(Parts<float> parts, float x, float) {
    // The first two terms of the series of s = f / (2 + f), and what they lost.
    constexpr float kFirst = 0x1.715476p+1f, kFirstLow = 0x1.4ae0cp-25f;
    constexpr float kSecond = 0x1.ec709ep-1f, kSecondLow = -0x1.e2fe02p-28f;
    const float s = parts.first, s_low = parts.second, exponent = split(x).exponent;
    const float z = s * s, z_low = fused(s, s, -z) + 2 * s * s_low;
    const float second = kSecond * z;
    const float second_low = fused(kSecond, z, -second) + (kSecond * z_low + kSecondLow * z);
    const float rest = second_low + z * z * polynomial<PowTerms>(z);
    const float factor = kFirst + second;
    const float factor_low = (second - (factor - kFirst)) + (rest + kFirstLow);
    const float product = s * factor;
    const float product_low = fused(s, factor, -product) + (s * factor_low + s_low * factor);
    const float sum = exponent + product;
    return {sum, (product - (sum - exponent)) + product_low};
  }
  DALIESQUE_INLINE static float finish(Parts<float> log, float x, float y) {
    const float product = y * log.first;
    const float low = fused(y, log.first, -product) + y * log.second;
    // Beyond these, results are infinite or zero.
    const float inside = at_least(at_most(product, 130), -160);
    const float rounded = inside + kRounder<float>;
    const float r = (inside - (rounded - kRounder<float>)) + select(inside == product, low, 0);
    const float found = scaled(1 + r * polynomial<Exp2Terms>(r), integer_of(rounded));
    // Squares are exact.
    return select(y == 2, x * x, found);
  }
};

}  // namespace daliesque::tensor::DALIESQUE_ISA::float32
