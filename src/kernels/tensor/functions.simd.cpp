// SPDX-License-Identifier: Apache-2.0
// Functions of the C library's kind, on many values at a time. What is not ordinary for a function
// of floats is computed by that of doubles, and what is not ordinary for that, by the C library.
#include <cmath>

#include "tensor/arithmetic_loops.h"
#include "tensor/functions32.simd.h"
#include "tensor/functions64.simd.h"

namespace daliesque::tensor::DALIESQUE_ISA {

namespace {

/// Values that are computed at a time, before looking for those that are not ordinary.
constexpr int64_t kFunctionBlock = 256;

/// Computes a block and returns how many of the values are not ordinary.
template <class Function, class T, class... Inputs>
DALIESQUE_INLINE int64_t apply_block(T* __restrict to, int64_t count,
                                     const Inputs* __restrict... in) {
  Bits<T> others = 0;
  for (int64_t i = 0; i < count; i++) {
    to[i] = Function::apply(in[i]...);
    others += Function::is_ordinary(in[i]...) ? 0 : 1;
  }
  return static_cast<int64_t>(others);
}

/// The same in two or three steps. Of a long function, the processor holds the instructions of two
/// or three vectors at a time, which are not enough to hide how long each waits for the one before;
/// of the shorter steps, it holds those of more vectors.
template <class Function, class T, class... Inputs>
DALIESQUE_INLINE int64_t apply_block_in_steps(T* __restrict to, int64_t count,
                                              const Inputs* __restrict... in) {
  T first[kFunctionBlock], second[kFunctionBlock];
  Bits<T> others = 0;
  for (int64_t i = 0; i < count; i++) {
    const Parts<T> parts = Function::begin(in[i]...);
    first[i] = parts.first;
    second[i] = parts.second;
    others += Function::is_ordinary(in[i]...) ? 0 : 1;
  }
  if constexpr (requires { &Function::go_on; }) {
    for (int64_t i = 0; i < count; i++) {
      const Parts<T> parts = Function::go_on({first[i], second[i]}, in[i]...);
      first[i] = parts.first;
      second[i] = parts.second;
    }
  }
  for (int64_t i = 0; i < count; i++) to[i] = Function::finish({first[i], second[i]}, in[i]...);
  return static_cast<int64_t>(others);
}

/// One value, of a function in any number of steps.
template <class Function, class... Inputs>
DALIESQUE_INLINE auto apply(Inputs... in) {
  if constexpr (requires { &Function::go_on; }) {
    return Function::finish(Function::go_on(Function::begin(in...), in...), in...);
  } else if constexpr (requires { &Function::begin; }) {
    return Function::finish(Function::begin(in...), in...);
  } else {
    return Function::apply(in...);
  }
}

/// Powers as the C library has them, but exact squares.
double power(double x, double y) { return y == 2 ? x * x : std::pow(x, y); }

/// What is not ordinary for a function of doubles goes through the C library.
template <class Wide, auto library, class... Inputs>
DALIESQUE_INLINE void finish_block(double* to, int64_t count, const Inputs*... in) {
  for (int64_t i = 0; i < count; i++) {
    if (!Wide::is_ordinary(in[i]...)) to[i] = library(in[i]...);
  }
}

/// What is not ordinary for a function of floats is a double's; `others` values are.
template <class Narrow, class Wide, auto library, class... Inputs>
DALIESQUE_INLINE void finish_block(float* to, int64_t count, int64_t others, const Inputs*... in) {
  // Of so many, the other values of the block are computed as well, which is faster.
  constexpr int64_t kMany = 16;
  double found[kFunctionBlock];
  if (others >= kMany) {
    for (int64_t i = 0; i < count; i++) found[i] = apply<Wide>(static_cast<double>(in[i])...);
  }
  for (int64_t i = 0; i < count; i++) {
    if (Narrow::is_ordinary(in[i]...)) continue;
    if (!Wide::is_ordinary(static_cast<double>(in[i])...)) {
      to[i] = static_cast<float>(library(in[i]...));
    } else {
      const double one = others < kMany ? apply<Wide>(static_cast<double>(in[i])...) : found[i];
      to[i] = static_cast<float>(one);
    }
  }
}

template <class T, class Narrow, class Wide, auto library, class... Inputs>
DALIESQUE_INLINE void function_block(T* to, int64_t count, const Inputs*... in) {
  using Function = std::conditional_t<std::is_same_v<T, float>, Narrow, Wide>;
  int64_t others;
  if constexpr (requires { &Function::begin; }) {
    others = apply_block_in_steps<Function>(to, count, in...);
  } else {
    others = apply_block<Function>(to, count, in...);
  }
  if (others == 0) return;
  if constexpr (std::is_same_v<T, float>) {
    finish_block<Narrow, Wide, library>(to, count, others, in...);
  } else {
    finish_block<Wide, library>(to, count, in...);
  }
}

template <class T, class Narrow, class Wide, double (*library)(double)>
void unary_function(void* out, const void* const* in, int64_t count) {
  auto* to = static_cast<T*>(out);
  const auto* a = static_cast<const T*>(in[0]);
  for (int64_t i = 0; i < count; i += kFunctionBlock) {
    const int64_t block = count - i < kFunctionBlock ? count - i : kFunctionBlock;
    function_block<T, Narrow, Wide, library>(to + i, block, a + i);
  }
}

template <class T, class Narrow, class Wide, double (*library)(double, double)>
void binary_function(void* out, const void* const* in, int64_t count) {
  auto* to = static_cast<T*>(out);
  const auto* a = static_cast<const T*>(in[0]);
  const auto* b = static_cast<const T*>(in[1]);
  for (int64_t i = 0; i < count; i += kFunctionBlock) {
    const int64_t block = count - i < kFunctionBlock ? count - i : kFunctionBlock;
    function_block<T, Narrow, Wide, library>(to + i, block, a + i, b + i);
  }
}

template <class T>
ArithmeticLoop function_loop_for(ArithmeticOp op) {
  switch (op) {
    case ArithmeticOp::exp:
      return unary_function<T, float32::Exp, float64::Exp, std::exp>;
    case ArithmeticOp::log:
      return unary_function<T, float32::Log, float64::Log, std::log>;
    case ArithmeticOp::log2:
      return unary_function<T, float32::Log2, float64::Log2, std::log2>;
    case ArithmeticOp::log10:
      return unary_function<T, float32::Log10, float64::Log10, std::log10>;
    case ArithmeticOp::sin:
      return unary_function<T, float32::Sin, float64::Sin, std::sin>;
    case ArithmeticOp::cos:
      return unary_function<T, float32::Cos, float64::Cos, std::cos>;
    case ArithmeticOp::tan:
      return unary_function<T, float32::Tan, float64::Tan, std::tan>;
    case ArithmeticOp::asin:
      return unary_function<T, float32::Asin, float64::Asin, std::asin>;
    case ArithmeticOp::acos:
      return unary_function<T, float32::Acos, float64::Acos, std::acos>;
    case ArithmeticOp::atan:
      return unary_function<T, float32::Atan, float64::Atan, std::atan>;
    case ArithmeticOp::sinh:
      return unary_function<T, float32::Sinh, float64::Sinh, std::sinh>;
    case ArithmeticOp::cosh:
      return unary_function<T, float32::Cosh, float64::Cosh, std::cosh>;
    case ArithmeticOp::tanh:
      return unary_function<T, float32::Tanh, float64::Tanh, std::tanh>;
    case ArithmeticOp::cbrt:
      return unary_function<T, float32::Cbrt, float64::Cbrt, std::cbrt>;
    case ArithmeticOp::asinh:
      return unary_function<T, float32::Asinh, float64::Asinh, std::asinh>;
    case ArithmeticOp::acosh:
      return unary_function<T, float32::Acosh, float64::Acosh, std::acosh>;
    case ArithmeticOp::atanh:
      return unary_function<T, float32::Atanh, float64::Atanh, std::atanh>;
    case ArithmeticOp::atan2:
      return binary_function<T, float32::Atan2, float64::Atan2, std::atan2>;
    case ArithmeticOp::pow:
    case ArithmeticOp::fpow:
      return binary_function<T, float32::Pow, float64::Pow, power>;
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
