// SPDX-License-Identifier: Apache-2.0
// Arithmetic operations that go through memory together, a block of elements at a time.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/samples.h"
#include "tensor/arithmetic_rules.h"

namespace daliesque::tensor {

/// An operation whose operands are data, or made by steps before it.
struct ArithmeticStep {
  static constexpr int kData = -1;

  ArithmeticRule rule;
  /// Contiguous data, or outlines of what other steps make.
  std::array<const Samples*, kMaxOperands> operands{};
  /// The numbers of these steps, or kData.
  std::array<int, kMaxOperands> made_by{kData, kData, kData};

  size_t arity() const { return static_cast<size_t>(rule.arity); }
};

/// Types of which one serves as the other without a change of bits. uint64 meets signed types as
/// int64, wrapping around.
bool same_bits(DType a, DType b);

/// The sample of an operand that goes into sample i of the result.
inline int64_t own_index(const Samples& operand, int64_t i) { return operand.size() == 1 ? 0 : i; }

/// Computes the elements [begin, end) of sample i of `out`, which is what the last step makes. What
/// the others make has the same shapes, and stays in the L1 cache. If `streamed`, `out` is written
/// past the caches.
void run_steps(std::span<const ArithmeticStep> steps, const Samples& out, bool streamed, int64_t i,
               int64_t begin, int64_t end);

}  // namespace daliesque::tensor
