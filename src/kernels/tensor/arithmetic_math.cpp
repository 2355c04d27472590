// SPDX-License-Identifier: Apache-2.0
// Arithmetic loops that do not vectorize: functions of the C library, powers and wide divisions.
#include <cmath>
#include <type_traits>

#include "tensor/arithmetic_loops.h"

namespace daliesque::tensor {

namespace {

template <auto f, class T>
void unary(void* out, const void* const* in, int64_t count) {
  auto* to = static_cast<T*>(out);
  const auto* a = static_cast<const T*>(in[0]);
  for (int64_t i = 0; i < count; i++) to[i] = f(a[i]);
}

template <auto f, class T>
void binary(void* out, const void* const* in, int64_t count) {
  auto* to = static_cast<T*>(out);
  const auto* a = static_cast<const T*>(in[0]);
  const auto* b = static_cast<const T*>(in[1]);
  for (int64_t i = 0; i < count; i++) to[i] = f(a[i], b[i]);
}

template <auto f>
ArithmeticLoop unary_function(DType type) {
  return type == DType::float32 ? unary<f, float> : unary<f, double>;
}

template <auto f>
ArithmeticLoop binary_function(DType type) {
  return type == DType::float32 ? binary<f, float> : binary<f, double>;
}

/// Squares and multiplies, wrapping around; negative exponents give 0.
template <class T>
T integer_power(T base, T exponent) {
  if (exponent < 0) return 0;
  uint64_t result = 1, square = static_cast<uint64_t>(base);
  for (auto rest = static_cast<uint64_t>(exponent); rest > 0; rest >>= 1) {
    if (rest & 1) result *= square;
    square *= square;
  }
  return static_cast<T>(result);
}

/// Squaring is so common that it deserves not to be a library call.
template <class T>
T real_power(T base, T exponent) {
  return exponent == 2 ? base * base : std::pow(base, exponent);
}

template <class T>
T quotient(T a, T b) {
  // The lowest value divided by -1 wraps around; the processor would trap.
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(a));
  }
  return a / b;
}

template <class T>
T remainder(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
  }
  return a % b;
}

ArithmeticLoop power_loop(DType type) {
  switch (type) {
    case DType::uint8:
      return binary<integer_power<uint8_t>, uint8_t>;
    case DType::uint16:
      return binary<integer_power<uint16_t>, uint16_t>;
    case DType::uint32:
      return binary<integer_power<uint32_t>, uint32_t>;
    case DType::uint64:
      return binary<integer_power<uint64_t>, uint64_t>;
    case DType::int8:
      return binary<integer_power<int8_t>, int8_t>;
    case DType::int16:
      return binary<integer_power<int16_t>, int16_t>;
    case DType::int32:
      return binary<integer_power<int32_t>, int32_t>;
    case DType::int64:
      return binary<integer_power<int64_t>, int64_t>;
    default:
      return type == DType::float32 ? binary<real_power<float>, float>
                                    : binary<real_power<double>, double>;
  }
}

ArithmeticLoop quotient_loop(DType type) {
  switch (type) {
    case DType::uint32:
      return binary<quotient<uint32_t>, uint32_t>;
    case DType::uint64:
      return binary<quotient<uint64_t>, uint64_t>;
    case DType::int64:
      return binary<quotient<int64_t>, int64_t>;
    default:
      return nullptr;
  }
}

ArithmeticLoop remainder_loop(DType type) {
  switch (type) {
    case DType::uint32:
      return binary<remainder<uint32_t>, uint32_t>;
    case DType::uint64:
      return binary<remainder<uint64_t>, uint64_t>;
    case DType::int64:
      return binary<remainder<int64_t>, int64_t>;
    default:
      return nullptr;
  }
}

ArithmeticLoop library_loop(ArithmeticOp op, DType type) {
  switch (op) {
    case ArithmeticOp::cbrt:
      return unary_function<[](auto a) { return std::cbrt(a); }>(type);
    case ArithmeticOp::exp:
      return unary_function<[](auto a) { return std::exp(a); }>(type);
    case ArithmeticOp::log:
      return unary_function<[](auto a) { return std::log(a); }>(type);
    case ArithmeticOp::log2:
      return unary_function<[](auto a) { return std::log2(a); }>(type);
    case ArithmeticOp::log10:
      return unary_function<[](auto a) { return std::log10(a); }>(type);
    case ArithmeticOp::sin:
      return unary_function<[](auto a) { return std::sin(a); }>(type);
    case ArithmeticOp::cos:
      return unary_function<[](auto a) { return std::cos(a); }>(type);
    case ArithmeticOp::tan:
      return unary_function<[](auto a) { return std::tan(a); }>(type);
    case ArithmeticOp::asin:
      return unary_function<[](auto a) { return std::asin(a); }>(type);
    case ArithmeticOp::acos:
      return unary_function<[](auto a) { return std::acos(a); }>(type);
    case ArithmeticOp::atan:
      return unary_function<[](auto a) { return std::atan(a); }>(type);
    case ArithmeticOp::sinh:
      return unary_function<[](auto a) { return std::sinh(a); }>(type);
    case ArithmeticOp::cosh:
      return unary_function<[](auto a) { return std::cosh(a); }>(type);
    case ArithmeticOp::tanh:
      return unary_function<[](auto a) { return std::tanh(a); }>(type);
    case ArithmeticOp::asinh:
      return unary_function<[](auto a) { return std::asinh(a); }>(type);
    case ArithmeticOp::acosh:
      return unary_function<[](auto a) { return std::acosh(a); }>(type);
    case ArithmeticOp::atanh:
      return unary_function<[](auto a) { return std::atanh(a); }>(type);
    case ArithmeticOp::atan2:
      return binary_function<[](auto a, auto b) { return std::atan2(a, b); }>(type);
    default:
      return nullptr;
  }
}

}  // namespace

ArithmeticLoop math_loop(ArithmeticOp op, DType type) {
  switch (op) {
    case ArithmeticOp::pow:
    case ArithmeticOp::fpow:
      return power_loop(type);
    case ArithmeticOp::div:
      return quotient_loop(type);
    case ArithmeticOp::mod:
      return remainder_loop(type);
    default:
      return library_loop(op, type);
  }
}

}  // namespace daliesque::tensor
