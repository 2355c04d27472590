// SPDX-License-Identifier: Apache-2.0
// Where the loops of arithmetic_rules.h come from. Each function returns null if it has no loop.
#pragma once

#include "tensor/arithmetic_rules.h"

namespace daliesque::tensor {

/// Operations and functions that vectorize; compiled once for each instruction set.
namespace portable {
ArithmeticLoop arithmetic_loop(ArithmeticOp op, DType left, DType right);
ArithmeticLoop function_loop(ArithmeticOp op, DType type);
bool has_zero(DType type, const void* values, int64_t count);
}  // namespace portable
namespace avx2 {
ArithmeticLoop arithmetic_loop(ArithmeticOp op, DType left, DType right);
ArithmeticLoop function_loop(ArithmeticOp op, DType type);
bool has_zero(DType type, const void* values, int64_t count);
}  // namespace avx2
namespace avx512 {
ArithmeticLoop function_loop(ArithmeticOp op, DType type);
}  // namespace avx512

/// Powers of integers, remainders and 64-bit divisions.
ArithmeticLoop math_loop(ArithmeticOp op, DType type);

}  // namespace daliesque::tensor
