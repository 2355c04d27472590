// SPDX-License-Identifier: Apache-2.0
// Element-wise arithmetic on batches: operators, type promotion, broadcasting.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/samples.h"

namespace daliesque::tensor {

enum class ArithmeticOp : uint8_t {
  plus,
  minus,
  bit_not,
  abs,
  fabs,
  sqrt,
  rsqrt,
  cbrt,
  exp,
  log,
  log2,
  log10,
  floor,
  ceil,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  asinh,
  acosh,
  atanh,
  add,
  sub,
  mul,
  div,
  fdiv,
  mod,
  min,
  max,
  pow,
  fpow,
  atan2,
  eq,
  neq,
  lt,
  leq,
  gt,
  geq,
  bit_and,
  bit_or,
  bit_xor,
  lshift,
  rshift,
  clamp,
};

constexpr int kMaxOperands = 3;

/// The operation of a name such as "add" or "bitand"; throws UsageError if unknown.
ArithmeticOp arithmetic_op(std::string_view name);

/// The element type of the result. Throws UsageError if the number of operands is wrong
/// or the operation is not defined for their types.
DType arithmetic_type(ArithmeticOp op, std::span<const DType> types);

/// Applies `op` to one to three operands. Shapes broadcast as in NumPy, sample by sample; an
/// operand of one sample serves all samples of the others. Throws UsageError for types, shapes or
/// layouts that do not go together, and for an integer division by zero.
Samples arithmetic(ArithmeticOp op, std::span<const Samples* const> operands);

/// One operation of an expression. Its operands are numbers: those of the inputs of the expression,
/// and after them those of the results of its operations.
struct Operation {
  ArithmeticOp op;
  std::vector<size_t> operands;
};

/// The result of the last of some operations, each of which may use those before it; the same bits
/// as if they were applied one by one. What has the shape of the last result goes from operation to
/// operation in the cache. Inputs are contiguous.
Samples arithmetic_expression(std::span<const Operation> operations,
                              std::span<const Samples* const> inputs);

}  // namespace daliesque::tensor
