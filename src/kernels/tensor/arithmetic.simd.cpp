// SPDX-License-Identifier: Apache-2.0
// Arithmetic loops that the compiler vectorizes. All operands of a loop have one type (except
// comparisons of uint64 with int64), so that there is one loop for each operation and type.
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/half.h"
#include "tensor/arithmetic_loops.h"

namespace daliesque::tensor::DALIESQUE_ISA {

/// An unsigned type wide enough that operations on T neither overflow nor get promoted to int.
template <class T>
using Wrapping = std::conditional_t<(sizeof(T) <= 4), uint32_t, uint64_t>;

struct Plus {
  template <class T>
  static T apply(T a) {
    return a;
  }
};

struct Minus {
  template <class T>
  static T apply(T a) {
    if constexpr (std::is_floating_point_v<T>) {
      return -a;
    } else {
      return static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(a));
    }
  }
};

struct BitNot {
  template <class T>
  static T apply(T a) {
    return static_cast<T>(~a);
  }
};

struct LogicalNot {
  template <class T>
  static T apply(T a) {
    return a ^ T{1};
  }
};

/// Keeps the sign of a negative zero, as the reference does.
struct Abs {
  template <class T>
  static T apply(T a) {
    return a < T{0} ? Minus::apply(a) : a;
  }
};

struct Fabs {
  template <class T>
  static T apply(T a) {
    return std::fabs(a);
  }
};

struct Sqrt {
  template <class T>
  static T apply(T a) {
    return std::sqrt(a);
  }
};

struct Rsqrt {
  template <class T>
  static T apply(T a) {
    return T{1} / std::sqrt(a);
  }
};

struct Floor {
  template <class T>
  static T apply(T a) {
    return std::floor(a);
  }
};

struct Ceil {
  template <class T>
  static T apply(T a) {
    return std::ceil(a);
  }
};

struct Add {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      return a + b;
    } else {
      return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
    }
  }
};

struct Sub {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      return a - b;
    } else {
      return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
    }
  }
};

struct Mul {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      return a * b;
    } else {
      return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
    }
  }
};

/// Truncates towards zero. A floating-point quotient of such small integers is never rounded up
/// to the next integer, because it differs from it by more than half a unit in the last place.
struct Div {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      return a / b;
    } else if constexpr (sizeof(T) < 4) {
      return static_cast<T>(static_cast<int32_t>(static_cast<float>(a) / static_cast<float>(b)));
    } else {
      static_assert(std::is_same_v<T, int32_t>);
      // The lowest value divided by -1 wraps around to itself.
      const T divisor = b == -1 ? 1 : b;
      const auto quotient = static_cast<T>(static_cast<double>(a) / static_cast<double>(divisor));
      return b == -1 ? Minus::apply(a) : quotient;
    }
  }
};

struct Mod {
  template <class T>
  static T apply(T a, T b) {
    return Sub::apply(a, Mul::apply(Div::apply(a, b), b));
  }
};

/// The remainder by one division, exact as long as the quotient has few digits: `wide` then holds
/// the product of quotient and divisor exactly. Sets `failed` if that cannot be relied on.
template <class Wide, class T>
DALIESQUE_INLINE T quick_remainder(T a, T b, Wide limit, bool& failed) {
  const Wide x = std::fabs(static_cast<Wide>(a)), y = std::fabs(static_cast<Wide>(b));
  const Wide ratio = x / y;
  // Written so that NaN fails. An infinite divisor would make the product NaN.
  failed |= !(ratio < limit) | !(y < std::numeric_limits<Wide>::infinity());
  const Wide whole = std::trunc(ratio);
#ifdef __FMA__
  const Wide rest = std::fma(-whole, y, x);
#else
  const Wide rest = x - whole * y;
#endif
  // The ratio may have been rounded up to the next integer, but never down.
  const Wide positive = rest < 0 ? rest + y : rest;
  return std::copysign(static_cast<T>(positive), a);
}

/// The exact remainder with the sign of the dividend, as std::fmod gives.
template <class T>
static void remainder(void* out, const void* const* in, int64_t count) {
  constexpr int64_t block = 256;
  // 24-bit divisor times 29-bit quotient fit into a double; doubles need a fused product.
#ifdef __FMA__
  constexpr double limit = sizeof(T) == 4 ? 0x1p29 : 0x1p52;
#else
  constexpr double limit = sizeof(T) == 4 ? 0x1p29 : 0;
#endif
  auto* __restrict to = static_cast<T*>(out);
  const auto* __restrict a = static_cast<const T*>(in[0]);
  const auto* __restrict b = static_cast<const T*>(in[1]);
  for (int64_t start = 0; start < count; start += block) {
    const int64_t end = count - start < block ? count : start + block;
    bool failed = false;
    for (int64_t i = start; i < end; i++) to[i] = quick_remainder(a[i], b[i], limit, failed);
    if (!failed) continue;
    for (int64_t i = start; i < end; i++) to[i] = std::fmod(a[i], b[i]);
  }
}

/// Of two operands of which one is NaN, the second one comes out.
struct Min {
  template <class T>
  static T apply(T a, T b) {
    return a < b ? a : b;
  }
};

struct Max {
  template <class T>
  static T apply(T a, T b) {
    return a > b ? a : b;
  }
};

struct BitAnd {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};

struct BitOr {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};

struct BitXor {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

/// Shifts by a negative or too large count behave as if all bits were shifted out.
struct LeftShift {
  template <class T>
  static T apply(T a, T b) {
    const auto count = static_cast<std::make_unsigned_t<T>>(b);
    constexpr auto bits = static_cast<std::make_unsigned_t<T>>(sizeof(T) * 8);
    const auto shifted = static_cast<T>(
        static_cast<Wrapping<T>>(a) << (count & static_cast<std::make_unsigned_t<T>>(bits - 1)));
    return count < bits ? shifted : T{0};
  }
};

struct RightShift {
  template <class T>
  static T apply(T a, T b) {
    const auto count = static_cast<std::make_unsigned_t<T>>(b);
    constexpr auto last = static_cast<std::make_unsigned_t<T>>(sizeof(T) * 8 - 1);
    const auto shifted = static_cast<T>(a >> (count < last ? count : last));
    return std::is_signed_v<T> || count <= last ? shifted : T{0};
  }
};

/// Shifting true by true leaves true on the left (2 is true) and nothing on the right.
struct LeftShiftBool {
  template <class T>
  static T apply(T a, T) {
    return a;
  }
};

struct RightShiftBool {
  template <class T>
  static T apply(T a, T b) {
    return a > b;
  }
};

struct Equal {
  template <class A, class B>
  static bool apply(A a, B b) {
    if constexpr (!std::is_same_v<A, B>) {
      const bool negative = std::is_signed_v<A> ? a < A{0} : b < B{0};
      return !negative & (static_cast<uint64_t>(a) == static_cast<uint64_t>(b));
    } else {
      return a == b;
    }
  }
};

struct NotEqual {
  template <class A, class B>
  static bool apply(A a, B b) {
    if constexpr (!std::is_same_v<A, B>) {
      return !Equal::apply(a, b);
    } else {
      return a != b;
    }
  }
};

struct Less {
  template <class A, class B>
  static bool apply(A a, B b) {
    if constexpr (std::is_same_v<A, B>) {
      return a < b;
    } else if constexpr (std::is_signed_v<A>) {
      return (a < 0) | (static_cast<uint64_t>(a) < b);
    } else {
      return (b >= 0) & (a < static_cast<uint64_t>(b));
    }
  }
};

struct LessEqual {
  template <class A, class B>
  static bool apply(A a, B b) {
    if constexpr (std::is_same_v<A, B>) {
      return a <= b;
    } else if constexpr (std::is_signed_v<A>) {
      return (a < 0) | (static_cast<uint64_t>(a) <= b);
    } else {
      return (b >= 0) & (a <= static_cast<uint64_t>(b));
    }
  }
};

template <class F, class T>
static void unary(void* out, const void* const* in, int64_t count) {
  auto* __restrict to = static_cast<T*>(out);
  const auto* __restrict a = static_cast<const T*>(in[0]);
  for (int64_t i = 0; i < count; i++) to[i] = F::apply(a[i]);
}

template <class F, class T>
static void binary(void* out, const void* const* in, int64_t count) {
  auto* __restrict to = static_cast<T*>(out);
  const auto* __restrict a = static_cast<const T*>(in[0]);
  const auto* __restrict b = static_cast<const T*>(in[1]);
  for (int64_t i = 0; i < count; i++) to[i] = F::apply(a[i], b[i]);
}

/// With `swapped`, a comparison serves as its mirror image: a > b is b < a.
template <class F, class A, class B, bool swapped>
static void compare(void* out, const void* const* in, int64_t count) {
  auto* __restrict to = static_cast<bool*>(out);
  const auto* __restrict a = static_cast<const A*>(in[swapped]);
  const auto* __restrict b = static_cast<const B*>(in[!swapped]);
  for (int64_t i = 0; i < count; i++) to[i] = F::apply(a[i], b[i]);
}

template <class T>
static void clamp(void* out, const void* const* in, int64_t count) {
  auto* __restrict to = static_cast<T*>(out);
  const auto* __restrict value = static_cast<const T*>(in[0]);
  const auto* __restrict low = static_cast<const T*>(in[1]);
  const auto* __restrict high = static_cast<const T*>(in[2]);
  for (int64_t i = 0; i < count; i++) {
    const T raised = value[i] < low[i] ? low[i] : value[i];
    to[i] = raised > high[i] ? high[i] : raised;
  }
}

/// Calls `body` with a value of the C++ type; booleans are bytes here.
template <class Body>
static ArithmeticLoop for_type(DType type, Body body) {
  switch (type) {
    case DType::boolean:
    case DType::uint8:
      return body(uint8_t{});
    case DType::uint16:
      return body(uint16_t{});
    case DType::uint32:
      return body(uint32_t{});
    case DType::uint64:
      return body(uint64_t{});
    case DType::int8:
      return body(int8_t{});
    case DType::int16:
      return body(int16_t{});
    case DType::int32:
      return body(int32_t{});
    case DType::int64:
      return body(int64_t{});
    case DType::float32:
      return body(float{});
    case DType::float64:
      return body(double{});
    default:
      return nullptr;
  }
}

/// For operations on bits, which need not know about signs.
static constexpr DType unsigned_type(DType type) {
  switch (type) {
    case DType::int8:
      return DType::uint8;
    case DType::int16:
      return DType::uint16;
    case DType::int32:
      return DType::uint32;
    case DType::int64:
      return DType::uint64;
    default:
      return type;
  }
}

template <class F>
static ArithmeticLoop unary_loop(DType type) {
  return for_type(type, [](auto value) -> ArithmeticLoop { return unary<F, decltype(value)>; });
}

template <class F>
static ArithmeticLoop binary_loop(DType type) {
  return for_type(type, [](auto value) -> ArithmeticLoop { return binary<F, decltype(value)>; });
}

template <class F>
static ArithmeticLoop float_loop(DType type) {
  if (type == DType::float32) return unary<F, float>;
  return type == DType::float64 ? unary<F, double> : nullptr;
}

template <class F>
static ArithmeticLoop integer_loop(DType type) {
  return for_type(type, [](auto value) -> ArithmeticLoop {
    using T = decltype(value);
    if constexpr (std::is_integral_v<T>) return binary<F, T>;
    return nullptr;
  });
}

/// Integer division where floating-point division is exact and faster.
template <class F>
static ArithmeticLoop division_loop(DType type) {
  return for_type(type, [](auto value) -> ArithmeticLoop {
    using T = decltype(value);
    constexpr bool divides = std::is_same_v<F, Div> && std::is_floating_point_v<T>;
    if constexpr (divides || (std::is_integral_v<T> && sizeof(T) < 4) ||
                  std::is_same_v<T, int32_t>) {
      return binary<F, T>;
    }
    return nullptr;
  });
}

template <class F, bool swapped = false>
static ArithmeticLoop comparison_loop(DType left, DType right) {
  if (left != right) {
    constexpr auto with_left = compare<F, int64_t, uint64_t, swapped>;
    constexpr auto with_right = compare<F, uint64_t, int64_t, swapped>;
    return (left == DType::int64) != swapped ? with_left : with_right;
  }
  return for_type(left, [](auto value) -> ArithmeticLoop {
    using T = decltype(value);
    return compare<F, T, T, swapped>;
  });
}

static ArithmeticLoop unary_operation(ArithmeticOp op, DType type) {
  switch (op) {
    case ArithmeticOp::plus:
      return unary_loop<Plus>(unsigned_type(type));
    case ArithmeticOp::minus:
      return unary_loop<Minus>(unsigned_type(type));
    case ArithmeticOp::bit_not:
      if (type == DType::boolean) return unary<LogicalNot, uint8_t>;
      return for_type(unsigned_type(type), [](auto value) -> ArithmeticLoop {
        using T = decltype(value);
        if constexpr (std::is_integral_v<T>) return unary<BitNot, T>;
        return nullptr;
      });
    case ArithmeticOp::abs:
      return unary_loop<Abs>(type);
    case ArithmeticOp::fabs:
      return float_loop<Fabs>(type);
    case ArithmeticOp::sqrt:
      return float_loop<Sqrt>(type);
    case ArithmeticOp::rsqrt:
      return float_loop<Rsqrt>(type);
    case ArithmeticOp::floor:
      return float_loop<Floor>(type);
    case ArithmeticOp::ceil:
      return float_loop<Ceil>(type);
    default:
      return nullptr;
  }
}

static ArithmeticLoop comparison(ArithmeticOp op, DType left, DType right) {
  const bool same = left == right;
  switch (op) {
    case ArithmeticOp::eq:
      return same ? comparison_loop<Equal>(unsigned_type(left), unsigned_type(left))
                  : comparison_loop<Equal>(left, right);
    case ArithmeticOp::neq:
      return same ? comparison_loop<NotEqual>(unsigned_type(left), unsigned_type(left))
                  : comparison_loop<NotEqual>(left, right);
    case ArithmeticOp::lt:
      return comparison_loop<Less>(left, right);
    case ArithmeticOp::leq:
      return comparison_loop<LessEqual>(left, right);
    case ArithmeticOp::gt:
      return comparison_loop<Less, true>(left, right);
    case ArithmeticOp::geq:
      return comparison_loop<LessEqual, true>(left, right);
    default:
      return nullptr;
  }
}

static ArithmeticLoop bit_operation(ArithmeticOp op, DType type) {
  switch (op) {
    case ArithmeticOp::bit_and:
      return integer_loop<BitAnd>(unsigned_type(type));
    case ArithmeticOp::bit_or:
      return integer_loop<BitOr>(unsigned_type(type));
    case ArithmeticOp::bit_xor:
      return integer_loop<BitXor>(unsigned_type(type));
    case ArithmeticOp::lshift:
      if (type == DType::boolean) return binary<LeftShiftBool, uint8_t>;
      return integer_loop<LeftShift>(unsigned_type(type));
    case ArithmeticOp::rshift:
      if (type == DType::boolean) return binary<RightShiftBool, uint8_t>;
      return integer_loop<RightShift>(type);
    default:
      return nullptr;
  }
}

ArithmeticLoop arithmetic_loop(ArithmeticOp op, DType left, DType right) {
  switch (op) {
    case ArithmeticOp::add:
      return binary_loop<Add>(unsigned_type(left));
    case ArithmeticOp::sub:
      return binary_loop<Sub>(unsigned_type(left));
    case ArithmeticOp::mul:
      return binary_loop<Mul>(unsigned_type(left));
    case ArithmeticOp::div:
    case ArithmeticOp::fdiv:
      return division_loop<Div>(left);
    case ArithmeticOp::mod:
      if (left == DType::float32) return remainder<float>;
      if (left == DType::float64) return remainder<double>;
      return division_loop<Mod>(left);
    case ArithmeticOp::min:
      return binary_loop<Min>(left);
    case ArithmeticOp::max:
      return binary_loop<Max>(left);
    case ArithmeticOp::clamp:
      return for_type(left, [](auto value) -> ArithmeticLoop { return clamp<decltype(value)>; });
    default:
      break;
  }
  if (ArithmeticLoop loop = comparison(op, left, right)) return loop;
  if (ArithmeticLoop loop = bit_operation(op, left)) return loop;
  return unary_operation(op, left);
}

template <class T>
static bool has_zero_of(const void* values, int64_t count) {
  const auto* in = static_cast<const T*>(values);
  T found = 0;
  for (int64_t i = 0; i < count; i++) found |= static_cast<T>(in[i] == 0);
  return found != 0;
}

bool has_zero(DType type, const void* values, int64_t count) {
  switch (unsigned_type(type)) {
    case DType::uint8:
      return has_zero_of<uint8_t>(values, count);
    case DType::uint16:
      return has_zero_of<uint16_t>(values, count);
    case DType::uint32:
      return has_zero_of<uint32_t>(values, count);
    default:
      return has_zero_of<uint64_t>(values, count);
  }
}

}  // namespace daliesque::tensor::DALIESQUE_ISA
