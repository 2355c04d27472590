// SPDX-License-Identifier: Apache-2.0
// Arithmetic loops that do not vectorize: powers of integers and wide divisions.
#include <type_traits>

#include "tensor/arithmetic_loops.h"

namespace daliesque::tensor {

namespace {

template <auto f, class T>
void binary(void* out, const void* const* in, int64_t count) {
  auto* to = static_cast<T*>(out);
  const auto* a = static_cast<const T*>(in[0]);
  const auto* b = static_cast<const T*>(in[1]);
  for (int64_t i = 0; i < count; i++) to[i] = f(a[i], b[i]);
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
      return nullptr;
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
      return nullptr;
  }
}

}  // namespace daliesque::tensor
