// SPDX-License-Identifier: Apache-2.0
// Functions of the C library's kind, on many values at a time. Results differ from the correctly
// rounded ones by one unit in the last place at most. Values for which the quick way is not meant
// (NaN, infinity, huge angles, results at the end of the range) go through the C library.
#include "tensor/functions.simd.h"

#include <cmath>
#include <limits>

#include "tensor/arithmetic_loops.h"

namespace daliesque::tensor::DALIESQUE_ISA {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Exponentials of larger numbers overflow, or underflow, in float and in double.
constexpr double kLargestFloatExponent = 105, kLargestExponent = 708;

template <class T>
DALIESQUE_INLINE bool is_normal_and_positive(double x) {
  // All positive floats are normal as doubles.
  constexpr double kLeast = kIsDouble<T> ? std::numeric_limits<double>::min() : 0x1p-149;
  return (x >= kLeast) & (x < kInfinity);
}

struct ExpFunction {
  template <class T>
  static bool is_ordinary(double x) {
    return !kIsDouble<T> | (magnitude(x) < kLargestExponent);
  }
  template <class T>
  DALIESQUE_INLINE static double apply(double x) {
    if constexpr (!kIsDouble<T>) {
      x = at_most(x, kLargestFloatExponent);
      x = x < -kLargestFloatExponent ? -kLargestFloatExponent : x;
    }
    return exponential<T>(x).value();
  }
  template <class T>
  static T library(T x) {
    return std::exp(x);
  }
};

struct LogFunction {
  template <class T>
  DALIESQUE_INLINE static bool is_ordinary(double x) {
    return is_normal_and_positive<T>(x);
  }
  template <class T>
  DALIESQUE_INLINE static double apply(double x) {
    return natural_log<T>(x);
  }
  template <class T>
  static T library(T x) {
    return std::log(x);
  }
};

struct Log2Function {
  template <class T>
  DALIESQUE_INLINE static bool is_ordinary(double x) {
    return is_normal_and_positive<T>(x);
  }
  template <class T>
  DALIESQUE_INLINE static double apply(double x) {
    const Logarithm log = logarithm<T>(x);
    if constexpr (kIsDouble<T>) {
      constexpr double kHigh = 0x1.71547p+0, kLow = 0x1.94ae0bf85ddf4p-22;
      const double high = log.high() * kHigh, sum = log.exponent + high;
      const double low = (log.low() + log.high()) * kLow + log.low() * kHigh;
      return (low + ((log.exponent - sum) + high)) + sum;
    } else {
      return log.s * (2 + log.rest) * 0x1.71547652b82fep+0 + log.exponent;
    }
  }
  template <class T>
  static T library(T x) {
    return std::log2(x);
  }
};

struct Log10Function {
  template <class T>
  DALIESQUE_INLINE static bool is_ordinary(double x) {
    return is_normal_and_positive<T>(x);
  }
  template <class T>
  DALIESQUE_INLINE static double apply(double x) {
    const Logarithm log = logarithm<T>(x);
    if constexpr (kIsDouble<T>) {
      constexpr double kHigh = 0x1.bcb7bp-2, kLow = 0x1.526e50e32a6abp-26;
      constexpr double kTwoHigh = 0x1.34413509f6p-2, kTwoLow = 0x1.9fef311f12b36p-42;
      const double high = log.high() * kHigh, whole = log.exponent * kTwoHigh;
      const double sum = whole + high;
      const double low =
          log.exponent * kTwoLow + (log.low() + log.high()) * kLow + log.low() * kHigh;
      return (low + ((whole - sum) + high)) + sum;
    } else {
      return log.s * (2 + log.rest) * 0x1.bcb7b1526e50ep-2 + log.exponent * 0x1.34413509f79ffp-2;
    }
  }
  template <class T>
  static T library(T x) {
    return std::log10(x);
  }
};

struct SinFunction {
  template <class T>
  DALIESQUE_INLINE static bool is_ordinary(double x) {
    return magnitude(x) < kLargestAngle;
  }
  template <class T>
  DALIESQUE_INLINE static double apply(double x) {
    const Angle a = angle<T>(x);
    const double found =
        Angle::in_quadrant(select(a.odd(), a.cosine.high, a.sine.high), a.quadrant);
    // A negative zero keeps its sign; that of a float does anyway.
    return kIsDouble<T> ? select(x == 0, x, found) : found;
  }
  template <class T>
  static T library(T x) {
    return std::sin(x);
  }
};

struct CosFunction {
  template <class T>
  DALIESQUE_INLINE static bool is_ordinary(double x) {
    return magnitude(x) < kLargestAngle;
  }
  template <class T>
  DALIESQUE_INLINE static double apply(double x) {
    const Angle a = angle<T>(x);
    return Angle::in_quadrant(select(a.odd(), a.sine.high, a.cosine.high), a.quadrant + 1);
  }
  template <class T>
  static T library(T x) {
    return std::cos(x);
  }
};

struct TanFunction {
  template <class T>
  DALIESQUE_INLINE static bool is_ordinary(double x) {
    return magnitude(x) < kLargestAngle;
  }
  template <class T>
  DALIESQUE_INLINE static double apply(double x) {
    const Angle a = angle<T>(x);
    const Sum upper = {select(a.odd(), -a.cosine.high, a.sine.high),
                       select(a.odd(), -a.cosine.low, a.sine.low)};
    const Sum lower = {select(a.odd(), a.sine.high, a.cosine.high),
                       select(a.odd(), a.sine.low, a.cosine.low)};
    const double found = quotient<T>(upper, lower);
    return kIsDouble<T> ? select(x == 0, x, found) : found;
  }
  template <class T>
  static T library(T x) {
    return std::tan(x);
  }
};

struct AsinFunction {
  template <class T>
  DALIESQUE_INLINE static bool is_ordinary(double) {
    return true;
  }
  template <class T>
  DALIESQUE_INLINE static double apply(double x) {
    const ArcSine arc = arc_sine<T>(magnitude(x));
    const double part = arc.start + arc.rest;
    if constexpr (kIsDouble<T>) {
      // Multiples of a start of few bits are exact.
      const double rest = (kPi / 4 - 2 * arc.start) - (2 * arc.rest - kPiLow / 2);
      return with_sign(select(arc.large, kPi / 4 + rest, part), x);
    } else {
      return with_sign(select(arc.large, kPi / 2 - 2 * part, part), x);
    }
  }
  template <class T>
  static T library(T x) {
    return std::asin(x);
  }
};

struct AcosFunction {
  template <class T>
  DALIESQUE_INLINE static bool is_ordinary(double) {
    return true;
  }
  template <class T>
  DALIESQUE_INLINE static double apply(double x) {
    if constexpr (!kIsDouble<T>) return kPi / 2 - AsinFunction::apply<T>(x);
    const ArcSine arc = arc_sine<T>(magnitude(x));
    const double part = arc.start + arc.rest;
    const double obtuse = kPi - (2 * part - kPiLow);
    const double middle = kPi / 2 - (with_sign(part, x) - kPiLow / 2);
    return select(arc.large, select(x < 0, obtuse, 2 * part), middle);
  }
  template <class T>
  static T library(T x) {
    return std::acos(x);
  }
};

struct AtanFunction {
  template <class T>
  DALIESQUE_INLINE static bool is_ordinary(double x) {
    return magnitude(x) < kInfinity;
  }
  template <class T>
  DALIESQUE_INLINE static double apply(double x) {
    return with_sign(arc_tangent<T>(magnitude(x), 1), x);
  }
  template <class T>
  static T library(T x) {
    return std::atan(x);
  }
};

struct SinhFunction {
  /// Parts of products with larger results than exp of this could overflow.
  static constexpr double kLargest = 690;

  template <class T>
  DALIESQUE_INLINE static bool is_ordinary(double x) {
    return !kIsDouble<T> | (magnitude(x) < kLargest);
  }
  template <class T>
  DALIESQUE_INLINE static double apply(double x) {
    const double limit = kIsDouble<T> ? kLargest : kLargestFloatExponent;
    const Sum grown = exponential_minus_one<T>(at_most(magnitude(x), limit));
    Sum lower = exact_sum(grown.high, 1);
    lower.low += grown.low;
    return with_sign(0.5 * grown.high + 0.5 * (quotient<T>(grown, lower) + grown.low), x);
  }
  template <class T>
  static T library(T x) {
    return std::sinh(x);
  }
};

struct CoshFunction {
  template <class T>
  DALIESQUE_INLINE static bool is_ordinary(double x) {
    return !kIsDouble<T> | (magnitude(x) < kLargestExponent);
  }
  template <class T>
  DALIESQUE_INLINE static double apply(double x) {
    const double limit = kIsDouble<T> ? kLargestExponent : kLargestFloatExponent;
    const double grown = exponential<T>(at_most(magnitude(x), limit)).value();
    return 0.5 * grown + 0.5 / grown;
  }
  template <class T>
  static T library(T x) {
    return std::cosh(x);
  }
};

struct TanhFunction {
  template <class T>
  DALIESQUE_INLINE static bool is_ordinary(double) {
    return true;
  }
  template <class T>
  DALIESQUE_INLINE static double apply(double x) {
    // Beyond this, the result is 1.
    constexpr double kLimit = 22;
    const Sum grown = exponential_minus_one<T>(2 * at_most(magnitude(x), kLimit));
    Sum lower = exact_sum(grown.high, 2);
    lower.low += grown.low;
    return with_sign(quotient<T>(grown, lower), x);
  }
  template <class T>
  static T library(T x) {
    return std::tanh(x);
  }
};

/// Squares of larger numbers could overflow.
constexpr double kLargestSquared = 0x1p500;

/// The logarithm of x + sqrt(x^2 + one), and of what both lost.
template <class T>
DALIESQUE_INLINE double log_of_both(double x, double one) {
  if constexpr (kIsDouble<T>) {
    const double square = x * x;
    Sum under = exact_sum(square, one);
    under.low += lost_in_product(x, x, square);
    const Sum root = exact_root<T>(under);
    const Sum both = exact_sum(x, root.high);
    return natural_log<T>(Sum{both.high, both.low + root.low});
  } else {
    return natural_log<T>(x + __builtin_sqrt(x * x + one));
  }
}

/// Below this, the first two terms of a series are exact enough.
template <class T>
constexpr double kSmall = kIsDouble<T> ? 0x1p-14 : 0x1p-10;

struct AsinhFunction {
  template <class T>
  DALIESQUE_INLINE static bool is_ordinary(double x) {
    return magnitude(x) < (kIsDouble<T> ? kLargestSquared : kInfinity);
  }
  template <class T>
  DALIESQUE_INLINE static double apply(double x) {
    const double a = magnitude(x);
    const double large = log_of_both<T>(a, 1);
    const double small = a - a * a * a * (1.0 / 6);
    return with_sign(select(a < kSmall<T>, small, large), x);
  }
  template <class T>
  static T library(T x) {
    return std::asinh(x);
  }
};

struct AcoshFunction {
  template <class T>
  DALIESQUE_INLINE static bool is_ordinary(double x) {
    return (x >= 1) & (x < (kIsDouble<T> ? kLargestSquared : kInfinity));
  }
  template <class T>
  DALIESQUE_INLINE static double apply(double x) {
    return log_of_both<T>(x, -1);
  }
  template <class T>
  static T library(T x) {
    return std::acosh(x);
  }
};

struct AtanhFunction {
  template <class T>
  DALIESQUE_INLINE static bool is_ordinary(double x) {
    return magnitude(x) < 1;
  }
  template <class T>
  DALIESQUE_INLINE static double apply(double x) {
    const double a = magnitude(x);
    const double large = 0.5 * natural_log<T>(exact_quotient<T>(exact_sum(1, a), exact_sum(1, -a)));
    const double small = a + a * a * a * (1.0 / 3);
    return with_sign(select(a < kSmall<T>, small, large), x);
  }
  template <class T>
  static T library(T x) {
    return std::atanh(x);
  }
};

struct CbrtFunction {
  template <class T>
  DALIESQUE_INLINE static bool is_ordinary(double x) {
    return is_normal_and_positive<T>(magnitude(x));
  }
  /// How much the cube of the reciprocal of a root is off.
  DALIESQUE_INLINE static double error_of(double inverse, double a) {
    return 1 - a * inverse * (inverse * inverse);
  }
  template <class T>
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
    if constexpr (kIsDouble<T>) {
      // A step of Newton's, from a number of few bits, whose square is exact.
      root = from_bits(bits_of(root) >> 28 << 28);
      const double ratio = a / (root * root);
      root += root * ((ratio - root) / (2 * root + ratio));
    }
    return with_sign(root, x);
  }
  template <class T>
  static T library(T x) {
    return std::cbrt(x);
  }
};

/// The base comes first.
struct PowFunction {
  template <class T>
  DALIESQUE_INLINE static bool is_ordinary(double x, double y) {
    if constexpr (kIsDouble<T>) {
      // So that neither the power nor its reciprocal overflows: |log2(x)| is below this.
      const double exponent = from_bits((bits_of(x) >> 52) | bits_of(0x1p52)) - (0x1p52 + 1023);
      const bool in_range = magnitude(y) * (magnitude(exponent) + 1) < 1020;
      return is_normal_and_positive<T>(x) & in_range;
    } else {
      return is_normal_and_positive<T>(x) & (magnitude(y) < kInfinity);
    }
  }
  template <class T>
  DALIESQUE_INLINE static double apply(double x, double y) {
    // Squares are exact.
    if constexpr (kIsDouble<T>) {
      const Sum log = exact_log(x);
      const double product = y * log.high;
      const double low = lost_in_product(y, log.high, product) + y * log.low;
      return select(y == 2, x * x, exponential<T>(product, low).value());
    } else {
      return select(y == 2, x * x, ExpFunction::apply<T>(y * natural_log<T>(x)));
    }
  }
  template <class T>
  static T library(T x, T y) {
    return y == 2 ? x * x : std::pow(x, y);
  }
};

struct Atan2Function {
  template <class T>
  DALIESQUE_INLINE static bool is_ordinary(double y, double x) {
    // So that quotients neither overflow nor underflow.
    constexpr double kLeast = kIsDouble<T> ? 0x1p-500 : 0x1p-149, kMost = 0x1p500;
    const double a = magnitude(x), b = magnitude(y);
    return (a >= kLeast) & (a <= kMost) & (b >= kLeast) & (b <= kMost);
  }
  template <class T>
  DALIESQUE_INLINE static double apply(double y, double x) {
    const double acute = arc_tangent<T>(magnitude(y), magnitude(x));
    const double obtuse = kPi - (acute - kPiLow);
    return with_sign(select(x < 0, obtuse, acute), y);
  }
  template <class T>
  static T library(T y, T x) {
    return std::atan2(y, x);
  }
};

/// Applies a function of one or two operands, block by block.
template <class Function, class T, class... Inputs>
DALIESQUE_INLINE void apply_block(T* __restrict to, int64_t count, const Inputs* __restrict... in) {
  int64_t others = 0;
  for (int64_t i = 0; i < count; i++) {
    to[i] = static_cast<T>(Function::template apply<T>(static_cast<double>(in[i])...));
    others += Function::template is_ordinary<T>(static_cast<double>(in[i])...) ? 0 : 1;
  }
  if (others == 0) return;
  for (int64_t i = 0; i < count; i++) {
    if (!Function::template is_ordinary<T>(static_cast<double>(in[i])...)) {
      to[i] = Function::library(in[i]...);
    }
  }
}

constexpr int64_t kFunctionBlock = 256;

template <class Function, class T>
void unary_function(void* out, const void* const* in, int64_t count) {
  auto* to = static_cast<T*>(out);
  const auto* a = static_cast<const T*>(in[0]);
  for (int64_t i = 0; i < count; i += kFunctionBlock) {
    const int64_t block = count - i < kFunctionBlock ? count - i : kFunctionBlock;
    apply_block<Function, T>(to + i, block, a + i);
  }
}

template <class Function, class T>
void binary_function(void* out, const void* const* in, int64_t count) {
  auto* to = static_cast<T*>(out);
  const auto* a = static_cast<const T*>(in[0]);
  const auto* b = static_cast<const T*>(in[1]);
  for (int64_t i = 0; i < count; i += kFunctionBlock) {
    const int64_t block = count - i < kFunctionBlock ? count - i : kFunctionBlock;
    apply_block<Function, T>(to + i, block, a + i, b + i);
  }
}

template <class T>
ArithmeticLoop function_loop_for(ArithmeticOp op) {
  switch (op) {
    case ArithmeticOp::exp:
      return unary_function<ExpFunction, T>;
    case ArithmeticOp::log:
      return unary_function<LogFunction, T>;
    case ArithmeticOp::log2:
      return unary_function<Log2Function, T>;
    case ArithmeticOp::log10:
      return unary_function<Log10Function, T>;
    case ArithmeticOp::sin:
      return unary_function<SinFunction, T>;
    case ArithmeticOp::cos:
      return unary_function<CosFunction, T>;
    case ArithmeticOp::tan:
      return unary_function<TanFunction, T>;
    case ArithmeticOp::asin:
      return unary_function<AsinFunction, T>;
    case ArithmeticOp::acos:
      return unary_function<AcosFunction, T>;
    case ArithmeticOp::atan:
      return unary_function<AtanFunction, T>;
    case ArithmeticOp::sinh:
      return unary_function<SinhFunction, T>;
    case ArithmeticOp::cosh:
      return unary_function<CoshFunction, T>;
    case ArithmeticOp::tanh:
      return unary_function<TanhFunction, T>;
    case ArithmeticOp::cbrt:
      return unary_function<CbrtFunction, T>;
    case ArithmeticOp::asinh:
      return unary_function<AsinhFunction, T>;
    case ArithmeticOp::acosh:
      return unary_function<AcoshFunction, T>;
    case ArithmeticOp::atanh:
      return unary_function<AtanhFunction, T>;
    case ArithmeticOp::atan2:
      return binary_function<Atan2Function, T>;
    case ArithmeticOp::pow:
    case ArithmeticOp::fpow:
      return binary_function<PowFunction, T>;
    default:
      return nullptr;
  }
}

}  // namespace

ArithmeticLoop function_loop(ArithmeticOp op, DType type) {
  if (type == DType::float32) return function_loop_for<float>(op);
  return type == DType::float64 ? function_loop_for<double>(op) : nullptr;
}

}  // namespace daliesque::tensor::DALIESQUE_ISA
