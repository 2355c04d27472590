// SPDX-License-Identifier: Apache-2.0
// How an operation is carried out: what its operands are converted to, and which loop runs.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "tensor/arithmetic.h"

namespace daliesque::tensor {

/// Computes `count` elements from as many arrays as the operation has operands.
using ArithmeticLoop = void (*)(void* out, const void* const* in, int64_t count);

struct ArithmeticRule {
  ArithmeticOp op;
  int arity;
  /// What each operand is converted to before the loop sees it.
  std::array<DType, kMaxOperands> compute;
  /// What the loop writes; converted to `result` if that differs.
  DType computed;
  DType result;
  ArithmeticLoop loop;
  /// An integer division: zeros in the second operand are refused beforehand.
  bool refuses_zero;
  /// Estimated nanoseconds for one element, memory traffic not counted.
  double cost;
};

/// The rule for `op` on operands of these types; throws as arithmetic_type does.
ArithmeticRule arithmetic_rule(ArithmeticOp op, std::span<const DType> types);

/// The type in which two types meet: the wider one of a kind; floating point wins over integers,
/// whatever the width; signed with unsigned gives the signed type that holds both, at most int64.
DType promote(DType a, DType b);

bool is_floating(DType type);
bool is_signed_integer(DType type);

/// True if a zero is among `count` integers of the type.
bool has_zero(DType type, const void* values, int64_t count);

}  // namespace daliesque::tensor
